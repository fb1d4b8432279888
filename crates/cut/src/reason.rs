//! Words that the reasons of several rules share.

/// The reason of every rule for an empty pool.
pub(crate) const NO_CANDIDATES: &str = "nothing was found";

/// The reason for keeping nothing of a list whose best candidate is too weak.
pub(crate) const NOTHING_CLOSE: &str = "nothing close enough";

/// The reason for keeping nothing where each candidate's probability is known.
pub(crate) const NOTHING_LIKELY: &str = "nothing is clearly relevant";

/// The reason for keeping all of a list without any difference in it.
pub(crate) const ALL_EQUAL: &str = "all score the same";

/// Added where a rule had to estimate the background from the list itself.
pub(crate) const BY_LIST_ALONE: &str = "; judged by this list alone";

/// The reason of a rule that needs at least two candidates.
pub(crate) fn too_few(count: usize) -> &'static str {
    if count == 0 { NO_CANDIDATES } else { "there is only one" }
}

/// The kept candidates as the object of "after": `it` or `them`.
pub(crate) fn them(keep: usize) -> &'static str {
    if keep == 1 { "it" } else { "them" }
}

/// A share as a whole percentage, 0 to 100, that says neither 0% nor 100% of what is only close to it.
pub(crate) fn percent(share: f64) -> String {
    let rounded = (100.0 * share).round().clamp(0.0, 100.0);
    match rounded {
        0.0 if share > 0.0 => "less than 1%".to_string(),
        100.0 if share < 1.0 => "over 99%".to_string(),
        _ => format!("{rounded}%"),
    }
}

/// A whole number with commas between thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with three decimals at most, or in scientific notation where that would hide it.
pub(crate) fn figure(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{number:.2e}");
    }
    let text = format!("{number:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_stay_between_0_and_100() {
        for (share, text) in
            [(0.0, "0%"), (0.004, "less than 1%"), (0.654, "65%"), (0.999, "over 99%"), (1.0, "100%"), (1.26, "100%")]
        {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [(0, "0"), (999, "999"), (4000, "4,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn figures_are_short_and_never_hide_a_small_number() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (0.65, "0.65"),
            (1.0 / 3.0, "0.333"),
            (120.0, "120"),
            (-2.5, "-2.5"),
            (0.000_04, "4.00e-5"),
            (2e9, "2.00e9"),
        ] {
            assert_eq!(figure(number), text);
        }
    }
}
