//! The contrast of the colors of pages, in light mode, in dark mode and in print.

use std::collections::{BTreeMap, BTreeSet};

const STYLE: &str = include_str!("../../reports/src/html/style.css");

/// Text colors and background colors, which may be combined freely.
const TEXTS: [&str; 8] = ["bad", "good", "idle", "ink", "link", "note", "soft", "warn"];
const GROUNDS: [&str; 7] = ["bad-tint", "good-tint", "note-tint", "page", "sheet", "sunk", "warn-tint"];
/// Colors of symbols, and their backgrounds.
const SIGNS: [&str; 12] =
    ["bad", "good", "idle", "input", "item", "note", "part", "response", "soft", "tool", "warn", "words"];
const UNDER_SIGNS: [&str; 2] = ["page", "sheet"];
/// The color of purely decorative lines.
const QUIET: &str = "line";

/// Contrast that WCAG 2 requires at level AA.
const OF_TEXTS: f64 = 4.5;
const OF_SIGNS: f64 = 3.0;

/// Returns the colors by name, in each mode.
fn modes() -> Vec<(&'static str, BTreeMap<&'static str, [u8; 3]>)> {
    let mut blocks = STYLE.split(":root {").skip(1).filter_map(|rest| rest.split('}').next()).map(colours);
    let day = blocks.next().expect("there are colours");
    let changed = |with: Option<BTreeMap<&'static str, [u8; 3]>>| {
        let mut all = day.clone();
        all.extend(with.expect("the mode has colours of its own"));
        all
    };
    let (dark, paper) = (changed(blocks.next()), changed(blocks.next()));
    assert!(blocks.next().is_none(), "a mode is not measured");
    vec![("day", day), ("dark", dark), ("paper", paper)]
}

fn colours(block: &'static str) -> BTreeMap<&'static str, [u8; 3]> {
    let pairs = block.split(';').filter_map(|line| line.trim().strip_prefix("--")?.split_once(": #"));
    let byte = |digits: &str, at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("it is a colour");
    pairs.map(|(name, digits)| (name, [0, 2, 4].map(|at| byte(digits, at)))).collect()
}

fn luminance(colour: [u8; 3]) -> f64 {
    let linear = colour.map(|byte| {
        let share = f64::from(byte) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Returns the colors that these properties use.
fn used(properties: &[&str]) -> BTreeSet<&'static str> {
    let declarations = STYLE.split([';', '{', '}']).filter_map(|text| text.trim().split_once(": "));
    let of = declarations.filter(|(name, _)| properties.contains(name));
    of.flat_map(|(_, value)| value.split("var(--").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .collect()
}

fn faint(pairs: (&[&'static str], &[&'static str]), least: f64) -> Vec<String> {
    let mut faint = Vec::new();
    for (mode, colours) in modes() {
        for above in pairs.0 {
            for below in pairs.1 {
                let found = contrast(colours[above], colours[below]);
                if found < least {
                    faint.push(format!("{above} on {below}, {mode}: {found:.2}"));
                }
            }
        }
    }
    faint
}

#[test]
fn texts_and_signs_can_be_told_from_what_is_below_them() {
    assert_eq!(faint((&TEXTS, &GROUNDS), OF_TEXTS), Vec::<String>::new());
    assert_eq!(faint((&SIGNS, &UNDER_SIGNS), OF_SIGNS), Vec::<String>::new());
    // The measure can fail, and is that of the standard.
    for (grey, expected) in [(0, 21.0), (0x76, 4.54)] {
        assert!((contrast([grey; 3], [255; 3]) - expected).abs() < 0.01, "{grey}");
    }
    assert!(!faint((&["line"], &["page"]), OF_SIGNS).is_empty());
}

/// All colors of the style sheet are measured, and all listed colors are used.
#[test]
fn every_colour_of_the_style_is_measured() {
    let names = |lists: &[&[&'static str]]| lists.concat().into_iter().collect::<BTreeSet<_>>();
    assert_eq!(used(&["color"]), names(&[&TEXTS]));
    assert_eq!(used(&["background"]), names(&[&GROUNDS]));
    let own = ["hue", "page", QUIET];
    let drawn = used(&["fill", "stroke", "--hue", "border-left", "border-left-color", "border-top-color"]);
    let drawn: BTreeSet<_> = drawn.into_iter().filter(|name| !own.contains(name)).collect();
    assert_eq!(drawn, names(&[&SIGNS]));
    for (mode, colours) in modes() {
        let known = names(&[&TEXTS, &GROUNDS, &SIGNS, &[QUIET]]);
        let more: Vec<_> = colours.keys().filter(|name| !known.contains(*name)).collect();
        assert!(more.is_empty(), "{mode}: {more:?} is measured nowhere");
    }
}
