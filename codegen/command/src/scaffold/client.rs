use std::path::Path;

use codegen::todo::MARK;

use super::{PagePath, Skeleton, prompt};

const TEXT: &str = "[[say Hello|, wor|ld.]]";

fn page(api: Option<&str>) -> String {
    // All APIs share a text; one has a request of its own.
    let (shared, own) = if api.is_some() {
        let prompt = prompt(api, TEXT);
        (String::new(), format!("\n```json\n{{\n  \"model\": \"default\",\n  {prompt}\n}}\n```\n"))
    } else {
        (format!("prompt = \"{TEXT}\"\n"), String::new())
    };
    format!(
        r#"```toml
expect = "must-survive"   # {MARK} must-survive, must-report or either
authority = "{MARK} a document and its heading, or `field` and where the behaviour was seen"
{shared}transports = ["sse", "json", "websocket"]   # {MARK} the transports
```

# {MARK} what the client receives, in a line

{MARK} why it must do what is expected.
{own}"#
    )
}

pub(crate) fn client(spec: &Path, api: Option<&str>, id: &str) -> anyhow::Result<Skeleton> {
    let PagePath { path, api } = PagePath::find(spec, "client", api, id)?;
    let next = [
        "write the request whose response is played; or set `golden` to a recording, and edit it with `edits`",
        "set `expect` to the behaviour that clients must have, and `authority` to the reason",
        "set `about` to the parts that a client must return, unless it must return all of them",
        "add the case to client-profiles/ if every client must handle it",
    ];
    Ok(Skeleton {
        files: vec![(path, page(api.as_deref()))],
        edited: Vec::new(),
        next: next.map(str::to_owned).to_vec(),
    })
}
