//! Numbers and counts as people read them in a reason.

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

/// `1 candidate`, `3 candidates`.
pub(crate) fn candidates(count: usize) -> String {
    if count == 1 { "1 candidate".to_string() } else { format!("{count} candidates") }
}

#[cfg(test)]
mod tests {
    use super::*;

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
