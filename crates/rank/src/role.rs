//! Rank factors by the role of the text. Tests, examples, copies, generated code, changelogs and licences repeat the words of
//! the text they are about, and so hide it. Reports of programs and unfilled forms do the same.

/// Factors on a candidate's ranking value by role, each in (0, 1]; 1 leaves it alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolePrior {
    /// Tests and their fixtures.
    pub test: f64,
    /// Examples, demonstrations and tutorials in code.
    pub example: f64,
    /// Third-party code carried by the project.
    pub vendored: f64,
    /// Generated code.
    pub generated: f64,
    /// Changelogs and release notes.
    pub changelog: f64,
    /// Licences and notices.
    pub license: f64,
    /// Comments by programs in discussions.
    pub bot: f64,
    /// Unfilled forms.
    pub template: f64,
}

impl Default for RolePrior {
    fn default() -> Self {
        RolePrior {
            test: 0.85,
            example: 0.95,
            vendored: 0.85,
            generated: 0.85,
            changelog: 0.85,
            license: 0.85,
            bot: 0.8,
            template: 0.8,
        }
    }
}

impl RolePrior {
    /// The factor for a role by its stored name; 1 for every role without a factor of its own.
    pub fn factor(&self, role: &str) -> f64 {
        match role {
            "test" => self.test,
            "example" => self.example,
            "vendored" => self.vendored,
            "generated" => self.generated,
            "changelog" => self.changelog,
            "license" => self.license,
            "bot" => self.bot,
            "template" => self.template,
            _ => 1.0,
        }
    }

    /// `value` ranked down by its role. A value that is not positive stays as it is, so that a factor never raises it.
    pub fn apply(&self, role: &str, value: f64) -> f64 {
        lowered(value, self.factor(role))
    }
}

/// `value` times `factor` if it is positive, so that a factor of at most 1 never raises it.
pub(crate) fn lowered(value: f64, factor: f64) -> f64 {
    if value > 0.0 { value * factor } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_roles_are_ranked_down() {
        let prior = RolePrior::default();
        assert_eq!(prior.apply("main", 0.8), 0.8);
        assert!((prior.apply("test", 0.8) - 0.68).abs() < 1e-12);
        assert_eq!(prior.apply("vendored", -0.2), -0.2, "a factor never raises a negative value");
    }
}
