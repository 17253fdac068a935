use std::fs;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use codegen::folders::{self, SHARED_RULES};
use codegen::todo::MARK;

use super::{PagePath, Skeleton};

/// The golden that a skeleton edits, if it exists: a short one of the vendor-neutral dialect.
const USUAL: &str = "open-responses/text.sse";

pub(crate) fn rule(spec: &Path, api: Option<&str>, id: &str) -> anyhow::Result<Skeleton> {
    let PagePath { path, api } = PagePath::find(spec, "rule", api, id)?;
    if api.is_none() {
        return Ok(shared(spec, path, id));
    }
    let (golden, event) = golden(spec, api.as_deref())?;
    let text = format!(
        r#"```toml
level = "should"   # {MARK} must, should or may
authority = "observed"   # {MARK} sentence, schema, definition or observed
citation = {{ source = "{MARK} the document", heading = "{MARK} its heading" }}
scope = "stream"   # {MARK} the scopes that it checks
relation = {{ unique = {{ events = ["{event}"], at = "/type" }} }}   # {MARK} relation, structure or native
fix = "send {event} once"   # {MARK} the fix for the server, a line that begins with a verb
since = "{version}"
```

# {MARK} what must hold, in a line

{MARK} what the rule demands, why, and what is exempt from it; below, the edits of a golden that break it.

```violation
golden: {golden}
duplicate {event}
```
"#,
        version = env!("CARGO_PKG_VERSION"),
    );
    let next = [
        "state the requirement with its level, authority and citation; list the clients that fail under [[breaks]]",
        "implement it by a relation, by `structure` (lifecycles of its scopes), or by code: `native = true` and \
         an arm for its variant of `NativeRule`; set `only_in` if it applies only to some dialects",
        "edit the violation so that it breaks this rule; list other rules that it breaks under `also:`",
        "replace `open` by the rule in requirements/ and guarantees.toml, and add it to the profiles that require it",
    ];
    Ok(Skeleton { files: vec![(path, text)], edited: Vec::new(), next: next.map(str::to_owned).to_vec() })
}

fn shared(spec: &Path, path: PathBuf, id: &str) -> Skeleton {
    let page = format!(
        r#"```toml
level = "should"   # {MARK} must, should or may, where no API has a lower one
scope = "stream"
native = true   # {MARK} relation, structure or native
since = "{version}"
```

# {MARK} what must hold in every API, in a line

{MARK} what the rule demands, why, and what is exempt from it, without the names of an API.
"#,
        version = env!("CARGO_PKG_VERSION"),
    );
    let mut edited = Vec::new();
    for api in folders::apis(spec) {
        let table = folders::table_of(&api, SHARED_RULES);
        let before = fs::read_to_string(spec.join(&table)).unwrap_or_default();
        let entry = format!(
            r#"
[[rule]]
id = "{id}"
authority = "observed"   # {MARK} sentence, schema, definition or observed
citation = {{ source = "{MARK} the document of this API", heading = "{MARK} its heading" }}
fix = "send it once"   # {MARK} the fix for the server, in the words of this API
violation.golden = "{golden}"
violation.edits = 'duplicate #1'   # {MARK} edits that break the rule
"#,
            golden = stream(spec, &api),
        );
        edited.push((table, before + &entry));
    }
    let next = [
        "state what holds in every API on the page, and what is special about one as `note` in its shared-rules.toml",
        "cite each API's own documents; move the rule to [unjudged] of an API that it cannot judge, with the reason",
        "implement it: `native = true` and an arm for its variant of `NativeRule`",
    ];
    Skeleton { files: vec![(path, page)], edited, next: next.map(str::to_owned).to_vec() }
}

fn stream(spec: &Path, api: &str) -> String {
    let folder = spec.join(folders::APIS).join(api);
    let of_api = folders::goldens(spec).into_iter().filter(|(_, path)| path.starts_with(&folder));
    let streams = of_api.filter_map(|(dialect, path)| {
        let name = path.file_name()?.to_str()?.strip_suffix(".sse")?;
        Some((name != "text", format!("{dialect}/{name}")))
    });
    streams.min().map_or_else(|| format!("{MARK} <dialect>/<golden>"), |(_, golden)| golden)
}

fn golden(spec: &Path, api: Option<&str>) -> anyhow::Result<(String, String)> {
    let folder = api.map_or_else(|| spec.to_owned(), |api| spec.join(folders::APIS).join(api));
    let named = |(dialect, path): (String, PathBuf)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        (format!("{dialect}/{name}"), path)
    };
    let of_api = folders::goldens(spec).into_iter().filter(|(_, path)| path.starts_with(&folder));
    let mut found: Vec<(String, PathBuf)> = of_api.map(named).collect();
    found.sort_by_key(|(name, _)| (name != USUAL, name.clone()));
    found
        .iter()
        .find_map(|(path, file)| {
            let text = fs::read_to_string(file).ok()?;
            let data = text.lines().find_map(|line| line.strip_prefix("data:"))?;
            let data: serde_json::Value = serde_json::from_str(data).ok()?;
            Some((path.strip_suffix(".sse")?.to_owned(), data.get("type")?.as_str()?.to_owned()))
        })
        .ok_or_else(|| match api {
            Some(api) => anyhow!("no golden of {api} has typed events for the violation; add one first"),
            None => anyhow!("no API has a stream for the violation; add a golden first"),
        })
}
