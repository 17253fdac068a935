use std::path::Path;

use super::{Skeleton, path_of};
use crate::todo::MARK;

fn page() -> String {
    format!(
        r#"```toml
expect = "must-survive"   # {MARK} must-survive, must-report or either
authority = "{MARK} a document and its heading, or `field` and where it was seen"
transports = ["sse", "json", "websocket"]   # {MARK} how it is sent
```

# {MARK} what the client receives, in a line

{MARK} why it must do what is expected.

```json
{{
  "model": "default",
  "input": "[[say Hello|, wor|ld.]]"
}}
```
"#
    )
}

/// The page of a case for clients. As it stands, it plays a short text.
pub fn client(_spec: &Path, id: &str) -> anyhow::Result<Skeleton> {
    let path = path_of("client", id)?;
    let next = [
        "write the request, whose answer is played; or name a recording with `golden`, and edit it with `edits`",
        "say under `expect` what a client has to do, and under `authority` what makes that binding",
        "say under `about` what a client has to return, where that is not all that the answer has",
        "name it in client-profiles/ if every client has to handle it",
    ];
    Ok(Skeleton { files: vec![(path, page())], edited: Vec::new(), next: next.map(str::to_owned).to_vec() })
}
