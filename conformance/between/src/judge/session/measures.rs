//! The measures of a session: what reports print of each, whether it passed or not.

use results::text::shortened;

use super::cache::{cached, kept_marks, marks_of};
use super::canonical::Kept;
use super::contract::retry_after;
use super::seals::{Seals, kept};
use super::{End, Session};

/// Number of characters of a change that are shown.
const SHOWN: usize = 40;

pub(super) fn measures(session: &Session<'_>) -> Vec<String> {
    let mut all = Vec::new();
    prefix(session, &mut all);
    let mut of = |name: &str, [kept, sent]: [u64; 2]| {
        if sent > 0 {
            all.push(format!("{name} {} of {}", grouped(kept), grouped(sent)));
        }
    };
    let sum = |count: &dyn Fn(&super::SessionTurn<'_>, &End) -> [usize; 2]| {
        let counts = session.both().map(|(turn, upstream)| count(turn, upstream));
        // The turn with the most shows whether all are kept.
        let most = counts.fold([0, 0], |most, own| {
            if own[1] > most[1] || own[1] == most[1] && own[0] < most[0] { own } else { most }
        });
        most.map(|count| count as u64)
    };
    of(
        "marks",
        sum(&|turn, upstream| {
            [kept_marks(&turn.sent.parts, &upstream.parts), marks_of(&turn.sent.parts).len()]
        }),
    );
    let seals = Seals::new(session);
    of(
        "sealed",
        sum(&|turn, upstream| {
            let (wanted, own) = (seals.due(turn), upstream.seals());
            [kept(&wanted, &own), wanted.len()]
        }),
    );
    let counts = session.turns.iter().filter_map(cached);
    let [sent, told] = counts.fold([0, 0], |[sent, told], own| [own[0].max(sent), own[1].max(told)]);
    of("cache read told", [told, sent]);
    let requests: usize = session.turns.iter().map(|turn| turn.requests.len()).sum();
    all.push(format!("requests {requests} for {}", session.turns.len()));
    let [kept, sent] = retry_after(session);
    if sent > 0 {
        all.push(if kept == sent {
            "retry-after kept".to_owned()
        } else {
            format!("retry-after kept {kept} of {sent}")
        });
    }
    all
}

fn prefix(session: &Session<'_>, all: &mut Vec<String>) {
    let mut first = None;
    let (mut upstream, mut client) = (Kept::default(), Kept::default());
    for prefix in &session.prefixes {
        if let (None, Some(change)) = (&first, &prefix.upstream.change) {
            first = Some(format!(
                "first change: turn {}, {}, \"{}\"",
                prefix.number,
                change.place,
                shortened(&change.after, SHOWN)
            ));
        }
        for (sum, own) in [(&mut upstream, &prefix.upstream), (&mut client, &prefix.client)] {
            (sum.same, sum.all) = (sum.same + own.same, sum.all + own.all);
        }
    }
    if upstream.all > 0 {
        all.push(format!(
            "prefix kept {} % of {} characters (client {} %)",
            share(&upstream),
            grouped(upstream.all as u64),
            share(&client)
        ));
        all.extend(first);
    }
}

/// In percent, cut and not rounded: 100 is all.
fn share(kept: &Kept) -> String {
    let share = (kept.same * 10_000).checked_div(kept.all).unwrap_or(10_000);
    match share % 100 {
        0 => (share / 100).to_string(),
        rest => format!("{}.{rest:02}", share / 100),
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
