//! Questions, and what each API cannot carry of them.

use serde_json::json;
use translation::{Call, Choice, Format, Image, Output, Part, Question, Reasoning, Role, Tool, Turn};

pub(crate) fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

pub(crate) fn user(parts: Vec<Part>) -> Turn {
    Turn { role: Role::User, parts }
}

pub(crate) fn model(parts: Vec<Part>) -> Turn {
    Turn { role: Role::Assistant, parts }
}

pub(crate) fn call(id: &str) -> Part {
    let arguments = r#"{"city":"Zürich","days":[1,2.5]}"#.to_owned();
    Part::Call(Call { id: id.to_owned(), name: "weather".to_owned(), arguments })
}

pub(crate) fn result(id: &str) -> Part {
    Part::Result(Output { id: id.to_owned(), text: "sunny\n".to_owned(), is_error: false })
}

fn reasoning(id: Option<&str>, text: &str, seal: Option<&str>, is_redacted: bool) -> Part {
    let [id, seal] = [id, seal].map(|text| text.map(str::to_owned));
    Part::Reasoning(Reasoning { id, text: text.to_owned(), seal, is_redacted })
}

fn png() -> Part {
    let (media_type, data) = (Some("image/png".to_owned()), Some("iVBORw0KGgo=".to_owned()));
    Part::Image(Image { url: None, media_type, data })
}

fn image_at(url: &str) -> Part {
    Part::Image(Image { url: Some(url.to_owned()), ..Image::default() })
}

pub(crate) fn question() -> Question {
    let weather = Tool {
        name: "weather".to_owned(),
        description: Some("Returns the weather.".to_owned()),
        parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
    };
    Question {
        model: "m".to_owned(),
        turns: vec![user(vec![text("Weather?")])],
        tools: vec![weather],
        limit: Some(9000),
        is_stream: true,
        ..Question::default()
    }
}

/// A question, and what Responses, Messages and Chat Completions cannot carry of it.
pub(crate) type Row = (&'static str, Question, [&'static [&'static str]; 3]);

fn with(name: &'static str, lost: [&'static [&'static str]; 3], change: impl FnOnce(&mut Question)) -> Row {
    let mut changed = question();
    change(&mut changed);
    (name, changed, lost)
}

fn turns(name: &'static str, lost: [&'static [&'static str]; 3], turns: Vec<Turn>) -> Row {
    with(name, lost, |question| question.turns = turns)
}

const ALL_CARRY: [&[&str]; 3] = [&[], &[], &[]];

pub(crate) fn options() -> Vec<Row> {
    let choice = |name, choice| with(name, ALL_CARRY, |question| question.choice = choice);
    let effort = |name, lost| with(name, lost, |question| question.effort = Some(name.to_owned()));
    let strings = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    vec![
        with("plain", ALL_CARRY, |_| {}),
        with("no tools", ALL_CARRY, |question| question.tools.clear()),
        with("no limit", [&[], &["limit"], &[]], |question| question.limit = None),
        with("least limit", [&["limit"], &[], &[]], |question| question.limit = Some(1)),
        with("instructions", ALL_CARRY, |question| question.instructions = strings(&["Be brief."])),
        with("several instructions", ALL_CARRY, |question| {
            question.instructions = strings(&["a", "b\n", "c"]);
        }),
        choice("none", Choice::None),
        choice("any", Choice::Any),
        choice("one", Choice::One("weather".to_owned())),
        with("choice of nothing", [&["choice"], &["choice"], &["choice"]], |question| {
            question.tools.clear();
            question.choice = Choice::None;
        }),
        with("one call", ALL_CARRY, |question| question.is_one_call = true),
        with("one call of one", ALL_CARRY, |question| {
            question.is_one_call = true;
            question.choice = Choice::One("weather".to_owned());
        }),
        with("one call of none", [&[], &["is_one_call"], &[]], |question| {
            question.is_one_call = true;
            question.choice = Choice::None;
        }),
        with("stops", [&["stops"], &[], &[]], |question| question.stops = strings(&["END", "\n\n"])),
        with("many stops", [&["stops"], &[], &["stops"]], |question| {
            question.stops = strings(&["a", "b", "c", "d", "e"]);
        }),
        with("sampling", ALL_CARRY, |question| {
            question.temperature = Some(0.25);
            question.top_p = Some(0.5);
        }),
        with("hot", [&[], &["temperature"], &[]], |question| question.temperature = Some(1.5)),
        with("choices", [&["choices"], &["choices"], &[]], |question| question.choices = Some(2)),
        with("user", ALL_CARRY, |question| question.user = Some("u-1".to_owned())),
        effort("none", ALL_CARRY),
        effort("minimal", [&[], &["effort"], &[]]),
        effort("low", ALL_CARRY),
        effort("medium", ALL_CARRY),
        effort("high", ALL_CARRY),
        effort("xhigh", ALL_CARRY),
        effort("max", ALL_CARRY),
        effort("enormous", [&["effort"], &["effort"], &["effort"]]),
        with("effort above the limit", ALL_CARRY, |question| {
            question.effort = Some("high".to_owned());
            question.limit = Some(4096);
        }),
        with("effort without room", ALL_CARRY, |question| {
            question.effort = Some("low".to_owned());
            question.limit = Some(1024);
        }),
        with("object", [&[], &["format"], &[]], |question| question.format = Format::Object),
        with("schema", [&[], &["format.name"], &[]], |question| {
            question.format = Format::Schema { name: "sum".to_owned(), schema: schema.clone() };
        }),
        with("schema without name", [&["format.name"], &[], &["format.name"]], |question| {
            question.effort = Some("max".to_owned());
            question.format = Format::Schema { name: String::new(), schema: schema.clone() };
        }),
        with("whole", ALL_CARRY, |question| question.is_stream = false),
    ]
}

pub(crate) fn conversations() -> Vec<Row> {
    let asked = || user(vec![text("Weather?")]);
    let no_images: [&[&str]; 3] = [&["images"], &["images"], &["images"]];
    vec![
        turns(
            "texts",
            ALL_CARRY,
            vec![user(vec![text("a"), text("b")]), model(vec![text("c"), text("d")]), asked()],
        ),
        turns("unicode", ALL_CARRY, vec![user(vec![text("\u{1f469}\u{200d}\u{1f680} \"\\\u{0} \u{feff}")])]),
        turns(
            "images",
            ALL_CARRY,
            vec![user(vec![text("What?"), png(), image_at("https://e.org/a.png"), text("?")])],
        ),
        turns("only an image", ALL_CARRY, vec![user(vec![png()])]),
        turns("image of the model", no_images, vec![asked(), model(vec![text("See"), png()])]),
        turns("image of nothing", no_images, vec![user(vec![text("a"), Part::Image(Image::default())])]),
        turns(
            "drawing",
            [&[], &["images"], &[]],
            vec![user(vec![
                text("a"),
                Part::Image(Image {
                    media_type: Some("image/svg+xml".to_owned()),
                    data: Some("PHN2Zy8+".to_owned()),
                    url: None,
                }),
            ])],
        ),
        turns(
            "calls",
            ALL_CARRY,
            vec![
                asked(),
                model(vec![text("I look."), call("a"), call("b")]),
                user(vec![result("a"), result("b"), text("Go on.")]),
            ],
        ),
        turns("calls alone", ALL_CARRY, vec![asked(), model(vec![call("a")]), user(vec![result("a")])]),
        turns(
            "text after a call",
            [&[], &[], &["order"]],
            vec![asked(), model(vec![call("a"), text("I look.")]), user(vec![result("a")])],
        ),
        turns(
            "text before a result",
            [&[], &["order"], &["order"]],
            vec![asked(), model(vec![call("a")]), user(vec![text("Go on."), result("a")])],
        ),
        turns(
            "failed call",
            [&["result.is_error"], &[], &["result.is_error"]],
            vec![
                asked(),
                model(vec![call("a")]),
                user(vec![Part::Result(Output {
                    id: "a".to_owned(),
                    text: "no".to_owned(),
                    is_error: true,
                })]),
            ],
        ),
        turns(
            "empty output",
            ALL_CARRY,
            vec![
                asked(),
                model(vec![call("a")]),
                user(vec![Part::Result(Output { id: "a".to_owned(), ..Output::default() })]),
            ],
        ),
        turns(
            "cut arguments",
            [&[], &["arguments"], &[]],
            vec![
                asked(),
                model(vec![Part::Call(Call {
                    id: "a".to_owned(),
                    name: "weather".to_owned(),
                    arguments: "{\"ci".to_owned(),
                })]),
                user(vec![result("a")]),
            ],
        ),
        turns(
            "refusal",
            [&[], &["refusal"], &[]],
            vec![asked(), model(vec![Part::Refusal("No.".to_owned())]), asked()],
        ),
        turns(
            "refusal after text",
            [&[], &["refusal"], &[]],
            vec![asked(), model(vec![text("Hm."), Part::Refusal("No.".to_owned())])],
        ),
        turns(
            "sealed reasoning",
            [&["reasoning.id"], &[], &["reasoning.seal"]],
            vec![
                asked(),
                model(vec![reasoning(None, "First", Some("c2ln"), false), text("Sun."), call("a")]),
                user(vec![result("a")]),
            ],
        ),
        turns(
            "reasoning with an id",
            [&[], &["reasoning.id"], &["reasoning.id", "reasoning.seal"]],
            vec![asked(), model(vec![reasoning(Some("rs_a"), "First", Some("c2ln"), false), text("Sun.")])],
        ),
        turns(
            "open reasoning",
            [&["reasoning.id"], &["reasoning"], &[]],
            vec![asked(), model(vec![reasoning(None, "First", None, false), text("Sun.")])],
        ),
        turns(
            "redacted reasoning",
            [&["reasoning.id"], &[], &["reasoning.seal", "reasoning.is_redacted"]],
            vec![asked(), model(vec![reasoning(None, "", Some("ZW5j"), true), text("Sun.")])],
        ),
        turns(
            "silent reasoning",
            [&["reasoning.id", "reasoning.is_redacted"], &[], &["reasoning.seal"]],
            vec![asked(), model(vec![reasoning(None, "", Some("c2ln"), false), text("Sun.")])],
        ),
        turns(
            "reasoning between",
            [&["reasoning.id"], &[], &["reasoning.seal", "order"]],
            vec![
                asked(),
                model(vec![text("Hm."), reasoning(None, "First", Some("c2ln"), false), call("a")]),
                user(vec![result("a")]),
            ],
        ),
    ]
}
