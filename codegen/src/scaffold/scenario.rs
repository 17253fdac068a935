use std::path::Path;

use super::{Skeleton, path_of};
use crate::todo::MARK;

fn page() -> String {
    format!(
        r#"```toml
features = []   # {MARK} what an endpoint must offer
elicits = ["response.completed"]   # {MARK} the events that the answer must have
```

# {MARK} what it is about, in a line

{MARK} what the request asks for, and what must come of it.

```json
{{
  "model": "default",
  "input": "{MARK} what is asked",
  "stream": true
}}
```
"#
    )
}

/// Returns the page of a scenario. As it stands, it asks for any answer at all.
pub fn scenario(_spec: &Path, id: &str) -> anyhow::Result<Skeleton> {
    let path = path_of("scenario", id)?;
    let next = [
        "write the request, and say what it is about",
        "under `elicits` name the events without which nothing was exercised, under `rules` the rules that need it",
        "under `features` say what an endpoint must offer, such as \"tools\"",
        "name it in the profiles that demand it, and in requirements/ where it sees to a sentence",
    ];
    Ok(Skeleton { files: vec![(path, page())], edited: Vec::new(), next: next.map(str::to_owned).to_vec() })
}
