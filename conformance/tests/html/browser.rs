//! Pages in a real browser, if one is installed.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

use base64::Engine as _;
use serde_json::{Value, json};

/// Number of started browsers, as each needs its own profile folder.
static STARTED: AtomicUsize = AtomicUsize::new(0);

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
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let profile = profile.join(format!("chromium-{}-{number}", std::process::id()));
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

    /// Waits until the page with this file name has loaded. The blank page of its tab may load late, too.
    fn wait(&mut self, file: &str) {
        let is_its = |url: &Value| url.as_str().is_some_and(|url| url.ends_with(file));
        let begins = |event: &Value| {
            event["method"] == "Page.frameNavigated" && is_its(&event["params"]["frame"]["url"])
        };
        let ends = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events.iter().skip_while(|event| !begins(event)).any(ends) {
            let event = self.read();
            self.events.push_back(event);
        }
    }

    /// Opens a new tab.
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

    /// Evaluates an expression in the page.
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

/// Shows a page in a new tab. Returns its address.
fn show(browser: &mut Browser, name: &str, page: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("html");
    fs::create_dir_all(&folder).expect("it can be made");
    let file = folder.join(format!("{name}.html"));
    fs::write(&file, page).expect("it can be written");
    browser.open();
    browser.size(1200, 900);
    let address = format!("file://{}", file.display());
    browser.call("Page.navigate", &json!({ "url": address }));
    browser.wait(&format!("/{name}.html"));
    address
}

/// Returns the visible scenarios and groups of scenarios by class.
const SEEN: &str = "[...new Set([...document.querySelectorAll('.case, .passed')].filter(one => one.checkVisibility()).map(one => one.className))].sort().join()";

#[test]
#[ignore = "needs chromium: cargo test -p conformance --test html -- --ignored"]
fn browsers_show_pages_and_load_nothing() {
    let mut browser = Browser::start();
    for (name, run, page) in &*super::PAGES {
        let address = show(&mut browser, name, page);

        // The style has an effect, so the policy allows it. The width shows that nothing overflows.
        assert_eq!(
            browser.value("getComputedStyle(document.body).margin !== '8px'"),
            true,
            "{name}: no style"
        );
        for width in [360, 390, 700, 1200, 1400] {
            browser.size(width, 900);
            let widest = browser.value("document.documentElement.scrollWidth");
            if widest.as_u64().is_none_or(|widest| widest > width) {
                let wide = "[...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > innerWidth && !one.closest('.scroll, nav ul')).slice(0, 3).map(one => one.outerHTML.slice(0, 200)).join('\\n')";
                panic!("{name}: {widest} of {width} columns: {}", browser.value(wide));
            }
        }
        let marks = browser.value("[...document.querySelectorAll('.marks.wide [data-count]')].reduce((sum, mark) => sum + +mark.dataset.count, 0)");
        assert_eq!(marks, super::marks(page), "{name}");
        let sections = browser
            .value("[...document.querySelectorAll('main > section')].map(section => section.id).join()");
        let is_broken = !matches!(*name, "good" | "long");
        let some = |is_there: bool, id| if is_there { id } else { "" };
        let expected = [
            "clients,causes,scenarios,profiles,results",
            some(is_broken, ",next"),
            some(!run.exercised.is_empty(), ",lifecycle"),
            some(is_broken, ",rules"),
        ];
        let expected = expected.concat();
        assert_eq!(sections, expected, "{name}");
        let is_drawn = "document.querySelectorAll('svg.bars[role=img] rect').length > 0 && [...document.querySelectorAll('svg.bars')].every(svg => svg.querySelector('title') && svg.querySelector('desc'))";
        assert_eq!(browser.value(is_drawn), true, "{name}");
        assert_eq!(browser.value("document.scripts.length + document.images.length"), 1, "{name}");
        assert_eq!(browser.value("document.querySelector('.search').hidden"), false, "{name}: no script");
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

/// Links lead to their targets, filters and the search work, and print omits passed tests.
#[test]
#[ignore = "needs chromium: cargo test -p conformance --test html -- --ignored"]
fn readers_find_what_they_look_for() {
    let mut browser = Browser::start();
    show(&mut browser, "bad", super::page("bad").1);

    // Among results of profiles, only failures are red.
    let red = "(() => { const red = getComputedStyle(document.querySelector('.state.bad')).color; return [...document.querySelectorAll('#profiles td, #profiles td *')].filter(place => getComputedStyle(place).color === red && !place.closest('.bad')).length; })()";
    assert_eq!(browser.value(red), 0, "cells are red that did not fail");

    // Marks, the numbers beside clients, and names are links to their subjects.
    for links in ["[data-count]", ".by a", "#profiles a", ".cases a", ".place a"] {
        let leads = format!(
            "(() => {{ const link = [...document.querySelectorAll('{links}')].pop(); location.hash = link.getAttribute('href'); return document.getElementById(decodeURIComponent(location.hash).slice(1)).checkVisibility(); }})()"
        );
        assert_eq!(browser.value(&leads), true, "{links}");
    }

    // Without the script: filters are radio buttons and a style.
    assert_eq!(browser.value(SEEN), "case bad,case idle,case unknown");
    for class in ["bad", "idle", "unknown"] {
        browser.value(&format!("document.getElementById('show-{class}').click()"));
        assert_eq!(browser.value(SEEN), format!("case {class}"));
    }
    browser.value("document.getElementById('show-all').click()");

    let find = |text: &str| {
        format!(
            "(() => {{ const box = document.getElementById('search'); box.value = '{text}'; box.dispatchEvent(new Event('input')); return [...document.querySelectorAll('#scenarios .case')].filter(one => one.checkVisibility()).map(one => one.querySelector('.name').textContent).join(); }})()"
        )
    };
    assert_eq!(browser.value(&find("PART/before")), "text/part-before-open");
    assert_eq!(browser.value(&find("no such thing")), "");
    assert_eq!(browser.value("document.getElementById('nothing-found').textContent"), "Nothing found");
    let all = browser.value("document.querySelectorAll('#scenarios .case').length");
    assert_eq!(browser.value(&format!("{}.split(',').length", find(""))), all);

    // A keyboard reaches the filter and opens a finding.
    let focus = "(() => { const input = document.getElementById('show-all'); input.focus(); return document.activeElement === input; })()";
    assert_eq!(browser.value(focus), true);

    show(&mut browser, "good", super::page("good").1);
    let passed = "document.querySelectorAll('.passed').length > 0 && [...document.querySelectorAll('.passed')].every(one => one.checkVisibility())";
    assert_eq!(browser.value(passed), true);
    browser.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    assert_eq!(browser.value(SEEN), "", "what passed is not printed");
}

/// Pages of clients have the style of the others, and nothing runs out of its box.
#[test]
#[ignore = "needs chromium: cargo test -p conformance --test html -- --ignored"]
fn pages_of_clients_fit_their_boxes() {
    let page = super::client_page();
    let mut browser = Browser::start();
    let address = show(&mut browser, "client", &page);
    let asked = browser.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
    assert_eq!(
        asked.map(|event| &event["params"]["request"]["url"]).collect::<Vec<_>>(),
        [&Value::from(address)]
    );
    let told = |event: &&Value| {
        matches!(event["method"].as_str(), Some("Log.entryAdded" | "Runtime.exceptionThrown"))
    };
    assert_eq!(browser.events.iter().find(told), None);
    // Numbers stand beside their words, in boxes with a border.
    let styled = "[...document.querySelectorAll('.meter')].length === 3 && [...document.querySelectorAll('.meter')].every(one => getComputedStyle(one).borderTopWidth === '1px' && getComputedStyle(one.querySelector('ul')).display === 'flex')";
    assert_eq!(browser.value(styled), true);
    browser.value("document.querySelectorAll('details').forEach(one => { one.open = true; })");
    for width in [360, 390, 700, 1280] {
        browser.size(width, 900);
        let widest = browser.value("document.documentElement.scrollWidth");
        assert!(widest.as_u64().is_some_and(|widest| widest <= width), "{widest} of {width}");
        let wide = "[...document.querySelectorAll('#profiles .scroll, #causes .case, #tests .case')].filter(one => one.scrollWidth > one.clientWidth).length";
        assert_eq!(browser.value(wide), 0, "{width}: something runs out of its box");
    }
    assert_eq!(browser.value("document.body.innerText.includes('`')"), false, "backticks are raw");
    // The links of profiles lead to their cases, and the search finds them.
    let leads = "[...document.querySelectorAll('#profiles a, #requests a')].every(link => document.getElementById(decodeURIComponent(link.hash).slice(1))?.matches('.case'))";
    assert_eq!(browser.value(leads), true);
    assert_eq!(browser.value("document.querySelectorAll('#profiles a').length"), 12);
    let find = "(() => { const box = document.getElementById('search'); box.value = 'longer-one-9'; box.dispatchEvent(new Event('input')); return [...document.querySelectorAll('.case')].filter(one => one.checkVisibility()).length; })()";
    assert_eq!(browser.value(find), 1);
    for (width, height) in [(1280, 900), (390, 844)] {
        show(&mut browser, "client", &page);
        browser.size(width, height);
        store_picture(&mut browser, &format!("client-{width}"));
    }
}

/// Stores what a browser shows, in the folder of the pages.
fn store_picture(browser: &mut Browser, name: &str) {
    let picture = browser.call("Page.captureScreenshot", &json!({ "format": "png" }));
    let picture = picture["data"].as_str().expect("it is a picture");
    let picture = base64::engine::general_purpose::STANDARD.decode(picture).expect("it is base64");
    assert!(picture.len() > 10_000, "{} bytes", picture.len());
    let file = format!("{}/html/{name}.png", env!("CARGO_TARGET_TMPDIR"));
    fs::write(file, picture).expect("it can be written");
}

/// A page of a thousand events loads in less than a second and a half.
#[test]
#[ignore = "needs chromium: cargo test -p conformance --test html -- --ignored"]
fn long_streams_load_soon() {
    let mut browser = Browser::start();
    let (run, page) = super::page("long");
    assert!(run.totals.events >= 1000, "{}", run.totals.events);
    show(&mut browser, "long", page);
    let took = browser.value("performance.getEntriesByType('navigation')[0].loadEventStart");
    assert!(took.as_f64().is_some_and(|ms| ms > 0.0 && ms < 1500.0), "{took} ms");
}

/// The version of axe-core, which checks accessibility.
const AXE: &str = "axe-core@4.14.1";

/// Has npm fetch axe-core once.
fn axe() -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe");
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.exists() {
        fs::create_dir_all(&folder).expect("it can be made");
        let install = ["install", "--silent", "--no-audit", "--no-fund", "--no-save", AXE];
        let done = Command::new("npm").args(install).current_dir(&folder).status().expect("npm is there");
        assert!(done.success(), "npm cannot fetch {AXE}");
    }
    fs::read_to_string(script).expect("axe-core has its script")
}

/// Pages meet accessibility rules at all screen widths and in all color schemes. Screenshots of the first screen are
/// stored.
#[test]
#[ignore = "needs chromium and npm: cargo test -p conformance --test html -- --ignored"]
fn everybody_can_read_pages() {
    let axe = axe();
    let mut browser = Browser::start();
    let mut checked = 0;
    let client = super::client_page();
    let pages = ["good", "bad", "long"].map(|name| (name, super::page(name).1));
    for (name, page) in pages.into_iter().chain([("client", client.as_str())]) {
        for colours in ["light", "dark"] {
            show(&mut browser, name, page);
            let features = json!([{ "name": "prefers-color-scheme", "value": colours }]);
            browser.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
            browser.call("Runtime.evaluate", &json!({ "expression": axe }));
            // Collapsed content is checked, too.
            browser.value("document.querySelectorAll('details').forEach(one => { one.open = true; })");
            for width in [360, 700, 1280] {
                browser.size(width, 900);
                let run = json!({
                    "expression": "axe.run().then(found => JSON.stringify({ passes: found.passes.length, violations: found.violations.map(one => [one.id, one.nodes.length, one.nodes[0].html, one.nodes[0].failureSummary]) }))",
                    "awaitPromise": true,
                    "returnByValue": true,
                });
                let result = browser.call("Runtime.evaluate", &run);
                let found = result["result"]["value"].as_str().unwrap_or_else(|| panic!("{result:#}"));
                let found: Value = serde_json::from_str(found).expect("it is JSON");
                assert!(found["passes"].as_u64().is_some_and(|passes| passes > 15), "{found:#}");
                assert_eq!(found["violations"], json!([]), "{name}, {colours}, {width}: {found:#}");
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 24);
    // axe finds a deliberate fault.
    browser.value("document.querySelector('#search').removeAttribute('aria-label'), document.querySelector('#search').placeholder = ''");
    let run = json!({
        "expression": "axe.run().then(found => found.violations.map(one => one.id).join())",
        "awaitPromise": true,
        "returnByValue": true,
    });
    assert_eq!(browser.call("Runtime.evaluate", &run)["result"]["value"], "label");
}

/// The first screen shows the main results. Screenshots are stored in the folder of the pages.
#[test]
#[ignore = "needs chromium: cargo test -p conformance --test html -- --ignored"]
fn the_first_screen_says_what_matters() {
    let mut browser = Browser::start();
    for (colours, width, height) in [("light", 1280, 900_u32), ("dark", 1280, 900), ("light", 390, 844)] {
        show(&mut browser, "bad", super::page("bad").1);
        let features = json!([{ "name": "prefers-color-scheme", "value": colours }]);
        browser.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
        browser.size(width, height.into());
        let mut seen = vec![".outcome", ".lead", ".facts", ".command", ".meters", "nav"];
        if width > 1000 {
            // The clients, and the first finding below them.
            seen.extend([".matrix", ".cause > summary"]);
        }
        for seen in seen {
            let end = format!("document.querySelector('{seen}').getBoundingClientRect().bottom");
            let end = browser.value(&end).as_f64().expect("it is a number");
            assert!(end > 0.0 && end < f64::from(height), "{seen} ends at {end} of {width} x {height}");
        }
        store_picture(&mut browser, &format!("first-{width}-{colours}"));
    }
}
