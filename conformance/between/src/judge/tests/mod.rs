//! Each rule with recordings that are right, and recordings that break it alone.

mod bench;
mod broken;
mod faults;
mod good;
mod said;

use bench::{Bench, MARK, pairs};
