use std::path::Path;

use codegen::SpecFiles;
use codegen::dialect;
use codegen::todo::{MARK, todo};

use super::{PagePath, Skeleton, prompt};

fn page(api: Option<&str>, elicited: Option<&str>) -> String {
    let prompt = prompt(api, &todo("the prompt"));
    let elicited = elicited.map(|event| format!("\"{event}\"")).unwrap_or_default();
    format!(
        r#"```toml
features = []   # {MARK} what an endpoint must offer
elicits = [{elicited}]   # {MARK} the events that the response must contain
```

# {MARK} what it is about, in a line

{MARK} what the request asks for, and what must come of it.

```json
{{
  "model": "default",
  {prompt},
  "stream": true
}}
```
"#
    )
}

fn completed(spec: &Path, api: Option<&str>) -> anyhow::Result<Option<String>> {
    let Some(api) = api else { return Ok(None) };
    let files = SpecFiles::load(spec)?;
    let Some(table) = files.apis.get(api) else { return Ok(None) };
    let event = format!("{}.{}", table.outer.root, table.status.completed);
    for name in dialect::list(spec)? {
        let dialect = dialect::load(spec, &name)?;
        if dialect.file.api == api && dialect.events.contains_key(&event) {
            return Ok(Some(event));
        }
    }
    Ok(None)
}

pub(crate) fn scenario(spec: &Path, api: Option<&str>, id: &str) -> anyhow::Result<Skeleton> {
    let PagePath { path, api } = PagePath::find(spec, "scenario", api, id)?;
    let elicited = completed(spec, api.as_deref())?;
    let next = [
        "write the request, and describe it",
        "list under `elicits` the events that the response must contain, under `rules` the rules that need the scenario",
        "list under `features` the features that the endpoint needs, such as \"tools\"",
        "add it to the profiles that require it, and to the sentences of requirements/ that it covers",
    ];
    Ok(Skeleton {
        files: vec![(path, page(api.as_deref(), elicited.as_deref()))],
        edited: Vec::new(),
        next: next.map(str::to_owned).to_vec(),
    })
}
