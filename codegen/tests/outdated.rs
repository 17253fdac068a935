//! `codegen outdated`, against fake registry clients.

#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use support::{Copy, own_spec};

/// A folder of clients, and the specification to ask about.
struct Clients {
    spec: Copy,
}

impl Clients {
    fn new() -> Self {
        let spec = Copy::of(&own_spec());
        fs::create_dir(spec.0.join("bin")).unwrap();
        Self { spec }
    }

    /// Adds a client that runs a script.
    fn client(self, name: &str, script: &str) -> Self {
        let path = self.spec.0.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn pip(self, versions: &str) -> Self {
        let script = format!(
            "case \"$1\" in index) echo \"openai (9)\"; echo \"Available versions: {versions}\";; \
             install) exit 0;; esac"
        );
        self.client("pip", &script)
    }

    fn npm(self, versions: &str) -> Self {
        self.client("npm", &format!("echo '{versions}'"))
    }

    /// Adds a Python whose package has these types.
    fn python(self, bundle: &str) -> Self {
        let path = self.spec.0.join("bundle.json");
        fs::write(&path, bundle).unwrap();
        let script = format!("/bin/cat > /dev/null; /bin/cat '{}'", path.display());
        self.client("python3", &script)
    }

    fn ask(&self) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_codegen"))
            .args(["outdated", "--spec-dir"])
            .arg(&self.spec.0)
            .env("PATH", self.spec.0.join("bin"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap_or(-1), text.into_owned())
    }
}

/// Returns the versions that the dialect `openai` is based on.
fn stated(registry: &str) -> String {
    let text = fs::read_to_string(own_spec().join("dialects/openai/dialect.toml")).unwrap();
    let file: toml::Table = toml::from_str(&text).unwrap();
    file["packages"][registry]["openai"].as_str().unwrap().to_owned()
}

#[test]
fn the_newest_version_lacks_nothing() {
    let clients = Clients::new().pip(&stated("pypi")).npm(&format!("[\"1.0.0\",\"{}\"]", stated("npm")));
    let (code, text) = clients.ask();
    assert_eq!(code, 0, "{text}");
    assert_eq!(text.matches("is the newest version").count(), 2, "{text}");
}

const ONE_MORE: &str = r##"{
    "title": "openai 9.0.0",
    "$defs": {
        "ResponseStreamEvent": { "anyOf": [{ "$ref": "#/$defs/Yawn" }] },
        "Yawn": {
            "type": "object",
            "required": ["type", "sequence_number"],
            "properties": {
                "type": { "const": "response.yawn", "type": "string" },
                "sequence_number": { "type": "integer" }
            }
        }
    }
}"##;

#[test]
fn what_a_newer_version_adds_is_named() {
    let clients =
        Clients::new().pip("9.0.0, 9.0.0rc1, 8.9.9").npm("[\"99.0.0\",\"100.0.0-beta.1\"]").python(ONE_MORE);
    let (code, text) = clients.ask();
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("9.0.0 and 1 more versions are newer"), "{text}");
    assert!(text.contains("+ response.yawn"), "{text}");
    assert!(text.contains("99.0.0 is newer; its types match the Python package"), "{text}");
    assert!(text.contains("import openai.json --dialect openai"), "{text}");
}

#[test]
fn a_newer_version_may_add_nothing() {
    let known = ONE_MORE.replace("response.yawn", "response.audio.done");
    let clients = Clients::new().pip("9.0.0").npm("\"1.0.0\"").python(&known);
    let (code, text) = clients.ask();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("9.0.0 adds nothing"), "{text}");
}

#[test]
fn what_cannot_be_asked_is_said() {
    let (code, text) = Clients::new().npm("[]").ask();
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("pypi openai: pip is not installed"), "{text}");

    let offline = "echo 'ERROR: No matching distribution found' >&2; exit 1";
    let (code, text) = Clients::new().client("pip", offline).npm("[]").ask();
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("`pip index versions openai` failed; can the registry be reached?"), "{text}");

    let (code, text) = Clients::new().pip("9.0.0").npm("no json").python("no json").ask();
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("the types of openai==9.0.0 are not JSON"), "{text}");
    assert!(text.contains("the output of npm is not JSON"), "{text}");
}
