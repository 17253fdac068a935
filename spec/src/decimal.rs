//! Numbers of any size and precision, by their value.

/// A number: its digits after a decimal point, and a power of ten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    pub(crate) is_negative: bool,
    /// The power of ten.
    pub(crate) power: i128,
    /// The digits, without leading or trailing zeros; zero has none.
    pub(crate) digits: Box<str>,
}

impl Decimal {
    /// Reads a JSON number.
    pub fn read(number: &str) -> Self {
        let magnitude = number.strip_prefix('-').unwrap_or(number);
        let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let significant = all.trim_start_matches('0');
        let length = |text: &str| i128::try_from(text.len()).unwrap_or(i128::MAX);
        let leading = length(&all) - length(significant);
        let power = exponent_of(exponent).saturating_add(length(whole) - leading);
        let digits = significant.trim_end_matches('0').into();
        Self { is_negative: magnitude.len() < number.len(), power, digits }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.digits.is_empty() || self.power >= 0 && self.digits.len() as u128 <= self.power.unsigned_abs()
    }

    /// Returns its value, if that is a whole number in range.
    pub fn whole(&self) -> Option<i128> {
        if self.digits.is_empty() {
            return Some(0);
        }
        if !self.is_whole() || self.power > 20 {
            return None;
        }
        let zeros = usize::try_from(self.power).ok()?.checked_sub(self.digits.len())?;
        let magnitude: i128 = format!("{}{}", self.digits, "0".repeat(zeros)).parse().ok()?;
        Some(if self.is_negative { -magnitude } else { magnitude })
    }

    pub(crate) fn magnitude(&self) -> (i128, &str) {
        (self.power, &self.digits)
    }
}

fn exponent_of(text: &str) -> i128 {
    // Clamped so that adding a number of digits cannot overflow.
    const MOST: i128 = i128::MAX / 4;
    let (is_negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let value = digits.trim_start_matches('0').parse().unwrap_or(if digits.contains(|c| c != '0') {
        MOST
    } else {
        0
    });
    let value = value.min(MOST);
    if is_negative { -value } else { value }
}
