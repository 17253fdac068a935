//! The checker as WebAssembly, for JavaScript.
//!
//! Texts and bytes are passed through two buffers of this module: JavaScript writes arguments to [`input`] and reads
//! results from [`output`], as UTF-8 with the length returned by the call. This needs eighty lines of JavaScript and no
//! binding generator. Handles of checkers count from 1.

#![expect(unsafe_code, reason = "names that are exported could clash; nothing else here is unsafe")]

mod check;
mod finding;
mod folder;

use std::cell::RefCell;

use checker::{Checker, Finding, Frame, Places, RuleSets};
use results::AUTO;

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

/// All that the module keeps between calls.
#[derive(Default)]
struct Module {
    input: Vec<u8>,
    output: Vec<u8>,
    checkers: Vec<Option<Checker>>,
}

impl Module {
    fn text(&self, length: usize) -> String {
        String::from_utf8_lossy(self.input.get(..length).unwrap_or_default()).into_owned()
    }

    fn hand_over(&mut self, text: impl Into<Vec<u8>>) -> usize {
        self.output = text.into();
        self.output.len()
    }

    /// The findings of the checker are the output.
    fn step(
        &mut self,
        handle: usize,
        step: impl for<'c> FnOnce(&'c mut Checker, &[u8]) -> &'c [Finding],
    ) -> usize {
        let Self { input, output, checkers } = self;
        output.clear();
        if let Some(checker) = slot(checkers, handle).and_then(Option::as_mut) {
            let found = step(checker, input);
            if !found.is_empty() {
                *output = finding::json(found);
            }
        }
        output.len()
    }
}

fn slot(checkers: &mut [Option<Checker>], handle: usize) -> Option<&mut Option<Checker>> {
    checkers.get_mut(handle.checked_sub(1)?)
}

fn with<R>(work: impl FnOnce(&mut Module) -> R) -> R {
    MODULE.with_borrow_mut(work)
}

/// Reserves this number of bytes, and returns where to write them.
#[unsafe(no_mangle)]
extern "C" fn input(length: usize) -> *mut u8 {
    with(|module| {
        module.input.resize(length, 0);
        module.input.as_mut_ptr()
    })
}

/// Returns where to read the last output.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    with(|module| module.output.as_ptr())
}

/// Outputs the names of all dialects, as JSON.
#[unsafe(no_mangle)]
extern "C" fn dialects() -> usize {
    let names: Vec<&str> = spec::dialects().map(|(name, _)| name).collect();
    with(|module| module.hand_over(serde_json::to_vec(&names).unwrap_or_default()))
}

/// Loads the dialect with the name and the files of the input, a JSON array of a text and an object with texts by path. Outputs
/// why it cannot.
#[unsafe(no_mangle)]
extern "C" fn load() -> usize {
    with(|module| {
        let problem = folder::load(&module.input).err().unwrap_or_default();
        module.hand_over(problem)
    })
}

/// Opens a checker for the dialect with the input name, or for the one that is recognised if it is `auto`. Returns its
/// handle, or 0 if there is no such dialect.
#[unsafe(no_mangle)]
extern "C" fn open() -> usize {
    with(|module| {
        let name = module.text(module.input.len());
        let checker = if name == AUTO {
            Some(Checker::recognising(&RuleSets::all()))
        } else {
            spec::dialect(&name).map(Checker::new)
        };
        if checker.is_none() {
            return 0;
        }
        if let Some(free) = module.checkers.iter().position(Option::is_none) {
            module.checkers[free] = checker;
            free + 1
        } else {
            module.checkers.push(checker);
            module.checkers.len()
        }
    })
}

/// Outputs the dialect of a checker: `auto` until it is recognised.
#[unsafe(no_mangle)]
extern "C" fn dialect(handle: usize) -> usize {
    with(|module| {
        let checker = slot(&mut module.checkers, handle).and_then(|slot| slot.as_ref());
        let name =
            checker.map_or("", |checker| checker.settled_dialect().map_or(AUTO, |dialect| dialect.name));
        module.hand_over(name)
    })
}

/// Frees a checker.
#[unsafe(no_mangle)]
extern "C" fn close(handle: usize) {
    with(|module| {
        if let Some(slot) = slot(&mut module.checkers, handle) {
            *slot = None;
        }
    });
}

/// Forgets the stream.
#[unsafe(no_mangle)]
extern "C" fn reset(handle: usize) {
    with(|module| {
        if let Some(Some(checker)) = slot(&mut module.checkers, handle) {
            checker.reset();
        }
    });
}

/// Processes the next bytes of a stream. Outputs new findings.
#[unsafe(no_mangle)]
extern "C" fn push(handle: usize) -> usize {
    with(|module| module.step(handle, |checker, bytes| checker.push(bytes)))
}

/// Processes the data of one event. Outputs new findings.
#[unsafe(no_mangle)]
extern "C" fn event(handle: usize) -> usize {
    with(|module| module.step(handle, |checker, bytes| checker.event(&String::from_utf8_lossy(bytes))))
}

/// Processes the body of a non-streaming response. Outputs new findings.
#[unsafe(no_mangle)]
extern "C" fn body(handle: usize) -> usize {
    with(|module| {
        module.step(handle, |checker, bytes| {
            checker.body(&Frame {
                data: Some(String::from_utf8_lossy(bytes)),
                source: bytes,
                bytes: 0..bytes.len() as u64,
                line: 1,
                places: Places::At(0),
                terminated: true,
                ..Frame::default()
            })
        })
    })
}

/// Processes the status and the headers of the response, as JSON: `[200, [["content-type", "text/event-stream"]]]`.
#[unsafe(no_mangle)]
extern "C" fn response(handle: usize) -> usize {
    with(|module| {
        module.step(handle, |checker, bytes| {
            if let Ok((status, headers)) = serde_json::from_slice(bytes) {
                checker.exchange(&checker::Exchange {
                    status: Some(status),
                    headers,
                    ..checker::Exchange::default()
                });
            }
            &[]
        })
    })
}

/// Ends the stream. Outputs new findings.
#[unsafe(no_mangle)]
extern "C" fn finish(handle: usize) -> usize {
    with(|module| module.step(handle, |checker, _| checker.finish()))
}

/// Outputs all findings so far.
#[unsafe(no_mangle)]
extern "C" fn findings(handle: usize) -> usize {
    with(|module| module.step(handle, |checker, _| checker.findings()))
}

/// Returns how many events there were so far.
#[unsafe(no_mangle)]
extern "C" fn events(handle: usize) -> f64 {
    count(handle, Checker::events)
}

/// Returns how many faults there were beyond those that are listed.
#[unsafe(no_mangle)]
extern "C" fn omitted(handle: usize) -> f64 {
    count(handle, Checker::omitted)
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript's numbers; no stream has 2^53 events")]
fn count(handle: usize, of: impl FnOnce(&Checker) -> u64) -> f64 {
    with(|module| slot(&mut module.checkers, handle).and_then(|slot| slot.as_ref()).map_or(0, of) as f64)
}

/// Checks a recording. The input consists of two lines of text, the dialect and the name of the recording, followed by
/// its bytes. Outputs the report as JSON, or as an HTML page if `is_page`.
#[unsafe(no_mangle)]
extern "C" fn check(is_page: bool) -> usize {
    with(|module| {
        let report = check::report(&module.input, is_page);
        module.hand_over(report)
    })
}
