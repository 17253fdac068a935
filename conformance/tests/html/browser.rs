//! Pages in a real browser, where there is one.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs};

use serde_json::{Value, json};

/// A browser that is spoken to over a pipe: by the commands of its developer tools, each ended by a zero
/// byte.
struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last: u64,
    session: Option<String>,
    events: VecDeque<Value>,
    profile: PathBuf,
}

impl Browser {
    /// Starts one.
    fn start() -> Self {
        let named = env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chromium-{}", std::process::id()));
        // The pipes are expected at 3 and 4.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", script, &named, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell is there");
        let to = child.stdin.take().expect("it is piped");
        let from = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, to, from, last: 0, session: None, events: VecDeque::new(), profile }
    }

    fn read(&mut self) -> Value {
        let mut message = Vec::new();
        self.from.read_until(0, &mut message).expect("the browser speaks");
        message.pop();
        serde_json::from_slice(&message).expect("it speaks JSON")
    }

    /// Has a command carried out.
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        write!(self.to, "{message}\0").and_then(|()| self.to.flush()).expect("the browser listens");
        loop {
            let answer = self.read();
            if answer["id"] == self.last {
                assert_eq!(answer["error"], Value::Null, "{method}");
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    fn wait(&mut self, method: &str) {
        while !self.events.iter().any(|event| event["method"] == method) {
            let event = self.read();
            self.events.push_back(event);
        }
    }

    /// A new tab, in which nothing has happened.
    fn open(&mut self) {
        self.session = None;
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = self.call("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        self.events.clear();
    }

    fn size(&mut self, width: u64, height: u64) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What an expression is in the page.
    fn value(&mut self, expression: &str) -> Value {
        let result =
            self.call("Runtime.evaluate", &json!({ "expression": expression, "returnByValue": true }));
        assert_eq!(result["exceptionDetails"], Value::Null, "{expression}");
        result["result"]["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

#[test]
#[ignore = "needs chromium: cargo test -p conformance --test html -- --ignored"]
fn browsers_show_pages_and_load_nothing() {
    let mut browser = Browser::start();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("html");
    fs::create_dir_all(&folder).expect("it can be made");
    for (name, _, page) in &*super::PAGES {
        let file = folder.join(format!("{name}.html"));
        fs::write(&file, page).expect("it can be written");
        browser.open();
        browser.size(1200, 900);
        let address = format!("file://{}", file.display());
        browser.call("Page.navigate", &json!({ "url": address }));
        browser.wait("Page.loadEventFired");

        // What the style has done shows that the policy lets it, and the width that nothing sticks out.
        assert_eq!(
            browser.value("getComputedStyle(document.body).margin !== '8px'"),
            true,
            "{name}: no style"
        );
        for width in [360, 700, 1200, 1400] {
            browser.size(width, 900);
            // A tile that stands alone in its row looks as if it were something else.
            let alone = "(() => { const rows = new Map(); for (const tile of document.querySelectorAll('.tile')) { const top = tile.getBoundingClientRect().top; rows.set(top, 1 + (rows.get(top) ?? 0)); } return [...rows.values()].filter(count => count === 1).length; })()";
            assert_eq!(browser.value(alone), 0, "{name}: a tile alone at {width} columns");
            let widest = browser.value("document.documentElement.scrollWidth");
            assert!(
                widest.as_u64().is_some_and(|widest| widest <= width),
                "{name}: {widest} of {width} columns"
            );
        }
        let marks = browser.value("[...document.querySelectorAll('[data-count]')].reduce((sum, mark) => sum + +mark.dataset.count, 0)");
        assert_eq!(marks, super::marks(page), "{name}");
        let sections = browser.value(
            "[...document.querySelectorAll('section > h2')].map(heading => heading.textContent).join()",
        );
        let expected = if *name == "good" {
            "Profiles,Results,Clients,Findings,Scenarios"
        } else {
            "Profiles,Results,Clients,Findings,Next,Scenarios,Rules"
        };
        assert_eq!(sections, expected, "{name}");
        let is_drawn = "document.querySelectorAll('svg.bars[role=img] rect').length > 0 && [...document.querySelectorAll('svg.bars')].every(svg => svg.querySelector('title') && svg.querySelector('desc'))";
        assert_eq!(browser.value(is_drawn), true, "{name}");
        assert_eq!(browser.value("document.scripts.length + document.images.length"), 0, "{name}");

        // Only what failed is as red as a failure, in what came of profiles.
        if *name == "bad" {
            let red = "(() => { const probe = document.querySelector('.state.bad'); const red = getComputedStyle(probe).color; return [...document.querySelectorAll('#profiles td, #profiles td *')].filter(place => getComputedStyle(place).color === red && !place.closest('.bad')).length + [...document.querySelectorAll('#profiles td')].filter(cell => cell.classList.contains('bad')).length; })()";
            assert_eq!(browser.value(red), 0, "cells are red that did not fail");
            let passed = "getComputedStyle(document.querySelector('.demands .good')).color === getComputedStyle(document.querySelector('.kicker')).color";
            assert_eq!(browser.value(passed), true, "what passed has no colour");
        }

        // Whoever follows a mark sees the finding.
        if *name == "bad" {
            let leads = "(() => { const mark = [...document.querySelectorAll('[data-count]')].pop(); location.hash = mark.getAttribute('href'); return document.getElementById(mark.getAttribute('href').slice(1)).checkVisibility(); })()";
            assert_eq!(browser.value(leads), true, "the finding is shown");
        }
        let told = |event: &&Value| {
            matches!(
                event["method"].as_str(),
                Some("Log.entryAdded" | "Runtime.consoleAPICalled" | "Runtime.exceptionThrown")
            )
        };
        let told: Vec<&Value> = browser.events.iter().filter(told).collect();
        assert!(told.is_empty(), "{name}: {told:#?}");
        let asked = browser.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let asked: Vec<&Value> = asked.map(|event| &event["params"]["request"]["url"]).collect();
        assert_eq!(asked, [&Value::from(address)], "{name}");
    }
}
