//! What is written is read again, but for what the API cannot carry.

use serde_json::{Value, json};
use spec::Verdict;
use translation::{Call, Choice, Format, Image, Output, Part, Question, Reasoning, Role, Tool, Turn};

use super::dialects;

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn user(parts: Vec<Part>) -> Turn {
    Turn { role: Role::User, parts }
}

fn model(parts: Vec<Part>) -> Turn {
    Turn { role: Role::Assistant, parts }
}

fn call(id: &str) -> Part {
    let arguments = r#"{"city":"Zürich","days":[1,2.5]}"#.to_owned();
    Part::Call(Call { id: id.to_owned(), name: "weather".to_owned(), arguments })
}

fn result(id: &str) -> Part {
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

fn question() -> Question {
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
type Row = (&'static str, Question, [&'static [&'static str]; 3]);

fn with(name: &'static str, lost: [&'static [&'static str]; 3], change: impl FnOnce(&mut Question)) -> Row {
    let mut changed = question();
    change(&mut changed);
    (name, changed, lost)
}

fn turns(name: &'static str, lost: [&'static [&'static str]; 3], turns: Vec<Turn>) -> Row {
    with(name, lost, |question| question.turns = turns)
}

const ALL_CARRY: [&[&str]; 3] = [&[], &[], &[]];

fn options() -> Vec<Row> {
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
        with("effort above the limit", [&[], &["effort"], &[]], |question| {
            question.effort = Some("high".to_owned());
            question.limit = Some(2049);
        }),
        with("effort without room", [&[], &["effort"], &[]], |question| {
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

fn conversations() -> Vec<Row> {
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

/// Returns a question without what an API cannot carry, so that both sides of the trip can be compared.
fn without(mut question: Question, lost: &[&str]) -> Question {
    let usual = self::question();
    for lost in lost {
        match *lost {
            "limit" => question.limit = usual.limit,
            "stops" => question.stops.clear(),
            "temperature" => question.temperature = None,
            "choices" => question.choices = None,
            "choice" => question.choice = Choice::Free,
            "is_one_call" => question.is_one_call = false,
            "effort" => question.effort = None,
            "format" => question.format = Format::Text,
            "format.name" => {
                if let Format::Schema { name, .. } = &mut question.format {
                    name.clear();
                }
            }
            "order" => {
                for turn in &mut question.turns {
                    turn.parts.sort_by_key(|part| match part {
                        Part::Reasoning(_) | Part::Result(_) => 0,
                        Part::Text(_) | Part::Refusal(_) | Part::Image(_) => 1,
                        Part::Call(_) => 2,
                    });
                }
            }
            inner => question.turns.iter_mut().for_each(|turn| parts_without(&mut turn.parts, inner)),
        }
    }
    let nothing = Part::Reasoning(Reasoning::default());
    question.turns.iter_mut().for_each(|turn| turn.parts.retain(|part| *part != nothing));
    question
}

fn parts_without(parts: &mut Vec<Part>, lost: &str) {
    match lost {
        "images" => parts.retain(|part| !matches!(part, Part::Image(_))),
        "reasoning" => parts.retain(|part| !matches!(part, Part::Reasoning(_))),
        _ => {}
    }
    for part in parts {
        match (lost, part) {
            ("refusal", part @ Part::Refusal(_)) => *part = text("No."),
            ("result.is_error", Part::Result(output)) => output.is_error = false,
            ("arguments", Part::Call(call)) => "{}".clone_into(&mut call.arguments),
            ("reasoning.id", Part::Reasoning(reasoning)) => reasoning.id = None,
            ("reasoning.seal", Part::Reasoning(reasoning)) => reasoning.seal = None,
            ("reasoning.is_redacted", Part::Reasoning(reasoning)) => reasoning.is_redacted = false,
            _ => {}
        }
    }
}

#[test]
fn questions_come_back_without_what_their_api_cannot_carry() {
    for (name, question, lost) in options().into_iter().chain(conversations()) {
        for (dialect, lost) in dialects().into_iter().zip(lost) {
            let api = dialect.api;
            let request = question.write(api);
            let place = format!("{name} in {}: {request}", api.name);
            assert_eq!(question.unsaid(api), lost, "{place}");
            let read = Question::read(api, &request);
            assert_eq!(without(read.clone(), lost), without(question.clone(), lost), "{place}");
            if !lost.is_empty() {
                assert_ne!(read, question, "nothing is lost of {place}");
            }
        }
    }
}

#[test]
fn written_requests_match_the_schema_of_their_api() {
    for (name, question, _) in options().into_iter().chain(conversations()) {
        for dialect in dialects() {
            let mut request = question.write(dialect.api);
            if dialect.api.name == "messages" {
                // The published schema is that of requests with a stream.
                assert_eq!(request["stream"], question.is_stream);
                request["stream"] = json!(true);
            }
            let verdict = dialect.check_type(dialect.root("request").unwrap(), &request.to_string());
            assert_eq!(verdict, Verdict::Valid, "{name} in {}: {request}", dialect.api.name);
        }
    }
}

/// Returns the texts, calls and results of a question without their order within a turn, which some APIs prescribe.
fn said(question: &Question) -> Vec<String> {
    let said = |part: &Part| match part {
        Part::Text(text) | Part::Refusal(text) => Some(format!("text {text}")),
        Part::Call(call) => Some(format!("call {} {} {}", call.id, call.name, call.arguments)),
        Part::Result(output) => Some(format!("result {} {}", output.id, output.text)),
        Part::Image(_) | Part::Reasoning(_) => None,
    };
    let of_turn = |turn: &Turn| {
        let mut said: Vec<String> = turn.parts.iter().filter_map(said).collect();
        said.sort();
        said
    };
    question.turns.iter().flat_map(of_turn).collect()
}

#[test]
fn a_crossing_keeps_texts_calls_results_and_tools() {
    let rows = || options().into_iter().chain(conversations());
    for (name, question, _) in rows().filter(|(name, ..)| *name != "cut arguments") {
        for front in dialects() {
            for upstream in dialects() {
                let asked = Question::read(front.api, &question.write(front.api));
                let sent = Question::read(upstream.api, &asked.write(upstream.api));
                let place = format!("{name} from {} to {}", front.api.name, upstream.api.name);
                assert_eq!(said(&sent), said(&question), "{place}");
                assert_eq!(sent.tools, question.tools, "{place}");
                assert_eq!(sent.instructions, question.instructions, "{place}");
                assert_eq!(sent.others, [""; 0], "{place}");
            }
        }
    }
}

#[test]
fn a_question_of_any_shape_is_written_in_turns() {
    let question = Question {
        turns: vec![
            user(vec![text(""), call("a"), text("b")]),
            user(vec![]),
            model(vec![result("a"), text("c")]),
        ],
        ..question()
    };
    for dialect in dialects() {
        let read = Question::read(dialect.api, &question.write(dialect.api));
        let roles: Vec<Role> = read.turns.iter().map(|turn| turn.role).collect();
        assert_eq!(roles, [Role::Assistant, Role::User, Role::Assistant], "{}", dialect.api.name);
    }
    let empty = Question::default();
    for dialect in dialects() {
        assert_eq!(Question::read(dialect.api, &Value::Null), empty);
        assert_eq!(Question::read(dialect.api, &empty.write(dialect.api)).turns, []);
    }
}
