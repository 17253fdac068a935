use std::path::Path;

use super::{Skeleton, path_of};
use crate::todo::MARK;

fn page() -> String {
    format!(
        r#"```toml
features = []   # {MARK} what an endpoint must offer
elicits = ["response.completed"]   # {MARK} the events that the response must contain
```

# {MARK} what it is about, in a line

{MARK} what the request asks for, and what must come of it.

```json
{{
  "model": "default",
  "input": "{MARK} the prompt",
  "stream": true
}}
```
"#
    )
}

/// Returns the page of a scenario, which accepts any response.
pub fn scenario(spec: &Path, id: &str) -> anyhow::Result<Skeleton> {
    let path = path_of(spec, "scenario", id)?;
    let next = [
        "write the request, and describe it",
        "list under `elicits` the events that the response must contain, under `rules` the rules that need the scenario",
        "list under `features` the features that the endpoint needs, such as \"tools\"",
        "add it to the profiles that require it, and to the sentences of requirements/ that it covers",
    ];
    Ok(Skeleton { files: vec![(path, page())], edited: Vec::new(), next: next.map(str::to_owned).to_vec() })
}
