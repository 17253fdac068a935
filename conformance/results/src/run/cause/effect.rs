//! Causes that are effects of others.

use std::collections::HashMap;

use checker::{Finding, Origin};

use super::Cause;
use super::layer::Layer;
use crate::CaptureReport;

/// Marks the findings that follow from another protocol: where the first event or the body belongs to one, all that
/// is said of the events or the body.
pub(super) fn mark_other_protocols(captures: &mut [CaptureReport]) {
    for capture in captures {
        let is_same = |one: &Finding, other: &Finding| {
            one.exchange == other.exchange && one.exchange_number == other.exchange_number
        };
        for findings in capture.findings.chunk_by_mut(is_same) {
            let is_origin = |finding: &&Finding| finding.rule == Layer::FOREIGN && finding.place.event <= 1;
            let Some(origin) = findings.iter().find(is_origin).map(Finding::origin) else { continue };
            for finding in findings {
                if Layer::of(&finding.rule) >= Layer::Framing && finding.rule != Layer::FOREIGN {
                    finding.follows_from = Some(origin.clone());
                }
            }
        }
    }
}

/// A cause is an effect if all of its findings follow from others. It gets the name of their cause.
pub(super) fn resolve(causes: &mut [Cause], captures: &[CaptureReport]) {
    let finding = |[of, at]: [usize; 2]| captures.get(of)?.findings.get(at);
    let mut holders: HashMap<(usize, Origin), usize> = HashMap::new();
    for (number, cause) in causes.iter().enumerate() {
        for place in &cause.findings {
            if let Some(found) = finding(*place).filter(|found| found.follows_from.is_none()) {
                holders.insert((place[0], found.origin()), number);
            }
        }
    }
    let direct: Vec<Option<usize>> = (causes.iter().enumerate())
        .map(|(number, cause)| {
            let origin = |place: &[usize; 2]| {
                let origin = finding(*place)?.follows_from.clone()?;
                holders.get(&(place[0], origin)).copied().filter(|holder| *holder != number)
            };
            let is_effect = cause.findings.iter().all(|place| origin(place).is_some());
            origin(&cause.first).filter(|_| is_effect)
        })
        .collect();
    for (number, origin) in direct.iter().enumerate() {
        let Some(origin) = *origin else { continue };
        // A cause that stands alone somewhere is no effect, so an effect names one that is shown.
        let id = direct.get(origin).is_some_and(Option::is_none).then(|| causes.get(origin)).flatten();
        let id = id.map(|cause| cause.id.clone());
        if let Some(cause) = causes.get_mut(number) {
            cause.follows_from = id;
        }
    }
}
