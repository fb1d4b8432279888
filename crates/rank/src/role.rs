//! Rank factors by the role of the text. Tests, examples, copies, translations, generated code, changelogs, licences and
//! instructions for agents repeat the words of the text they are about, and so hide it. Reports of programs and unfilled forms do
//! the same.

/// Factors on a candidate's ranking value by the stored name of its role. Every other role has 1.
/// Generated code has the lowest: it repeats the names of what it is made from, word for word.
pub const ROLE_FACTORS: [(&str, f64); 10] = [
    ("test", 0.85),
    ("example", 0.95),
    ("vendored", 0.85),
    ("generated", 0.6),
    ("changelog", 0.85),
    ("license", 0.85),
    ("translation", 0.85),
    ("agent", 0.85),
    ("bot", 0.8),
    ("template", 0.8),
];

/// Returns the factor for a role, in (0, 1]. [`lowered`] applies it.
pub fn role_factor(role: &str) -> f64 {
    ROLE_FACTORS.iter().find(|(name, _)| *name == role).map_or(1.0, |(_, factor)| *factor)
}

/// Returns `value` times `factor` if it is positive, so that a factor of at most 1 never raises it.
pub fn lowered(value: f64, factor: f64) -> f64 {
    if value > 0.0 { value * factor } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_roles_are_ranked_down() {
        let ranked = |role: &str, value: f64| lowered(value, role_factor(role));
        assert_eq!(ranked("main", 0.8), 0.8);
        assert!((ranked("test", 0.8) - 0.68).abs() < 1e-12);
        assert_eq!(ranked("vendored", -0.2), -0.2, "a factor never raises a negative value");
    }
}
