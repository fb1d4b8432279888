//! The rule that decides a search: a cut with the caller's aims and strictness. Every interface uses it, also for the results of
//! other engines.

use super::aim::Aim;
use super::answer::CutReport;
use super::query::SearchRequest;
use crate::config::Config;
use crate::error::AimError;
use tamis_cut::{Fixed, Rule, Want};

/// A rule adjusted to the caller's wishes.
///
/// ```
/// use tamis::search::TunedRule;
/// use tamis::search::Aim;
/// use tamis_cut::{Want, parse};
///
/// let asked = TunedRule::new(parse("background")?.as_ref(), Want::One, &Aim::default())?;
/// assert_eq!(asked.rule().to_string(), "background:lambda=0.95");
/// assert_eq!(asked.note("background").as_deref(), Some("wanted: one (lambda=0.95)"));
///
/// let recall = Aim { target_recall: Some(0.9), ..Aim::default() };
/// let refused = TunedRule::new(parse("otsu")?.as_ref(), Want::Auto, &recall).unwrap_err();
/// assert_eq!(refused.to_string(), "target_recall: cut otsu has no such aim; use the cut auto");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TunedRule {
    rule: Box<dyn Rule>,
    want: Want,
    /// The parameter that `want` has set, if the rule has one.
    set: Option<String>,
}

impl TunedRule {
    /// Adjusts `rule` to the given aims, and to the strictness of `want` if it has one.
    ///
    /// # Errors
    /// The rule lacks an aim, or a value is out of range.
    pub fn new(rule: &dyn Rule, want: Want, aim: &Aim) -> Result<Self, AimError> {
        let rule = aim.set(rule)?;
        Ok(match rule.tuned(want) {
            Some((rule, set)) => TunedRule { rule, want, set: Some(set) },
            None => TunedRule { rule, want, set: None },
        })
    }

    /// Returns the rule that decides.
    pub fn rule(&self) -> &(dyn Rule + 'static) {
        self.rule.as_ref()
    }

    /// Returns the number of results wanted.
    pub fn want(&self) -> Want {
        self.want
    }

    /// Returns a remark on `want` for an answer that `method` decided: its effect, or the reason why it has none. `None` if
    /// `want` is automatic.
    pub fn note(&self, method: &str) -> Option<String> {
        let want = self.want.name();
        let rule = self.rule.name();
        Some(match &self.set {
            _ if self.want == Want::Auto => return None,
            None => format!("want={want} has no effect on the cut {rule}"),
            Some(_) if method != rule => format!("want={want} has no effect here"),
            Some(set) if set.starts_with("want=") => format!("wanted: {want}"),
            Some(set) => format!("wanted: {want} ({set})"),
        })
    }

    /// Adds the remark on `want` to a decided cut.
    pub(super) fn explain(&self, cut: &mut CutReport) {
        if let Some(note) = self.note(&cut.method) {
            cut.reason = format!("{}; {note}", cut.reason.trim_end_matches('.'));
            cut.diagnostics.insert("want".into(), self.want.name().into());
        }
    }
}

/// The rule for a search without a cut.
pub(crate) const EVERYTHING: Fixed = Fixed { k: 1_000_000 };

impl SearchRequest {
    /// Returns `true` if the search has neither a cut nor a gate.
    pub(super) fn is_uncut(&self, config: &Config) -> bool {
        self.all || self.cut.is_none() && self.configured(config).is_none()
    }

    /// Returns the configuration's cut; `None` if it is off.
    fn configured<'c>(&self, config: &'c Config) -> Option<&'c dyn Rule> {
        if self.memory { config.memory.cut.as_deref() } else { config.search.cut.as_deref() }
    }

    /// Returns the rule that decides this search: the request's cut, or else the configuration's, with the request's aims and the
    /// strictness wanted.
    ///
    /// # Errors
    /// The cut lacks an aim, or a value is out of range.
    pub fn tuned_rule(&self, config: &Config) -> Result<TunedRule, AimError> {
        let configured = if self.all { None } else { self.configured(config) };
        let rule: &dyn Rule = self.cut.as_deref().or(configured).unwrap_or(&EVERYTHING);
        // Without a cut there is nothing that a configured strictness could set.
        let configured = if self.is_uncut(config) { Want::Auto } else { config.search.want };
        TunedRule::new(rule, self.want.unwrap_or(configured), &self.aim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_cut::METHODS;
    use tamis_cut::parse;

    #[test]
    fn aims_take_the_place_of_the_rules_own() {
        let aim = Aim { min_precision: Some(0.8), budget_tokens: Some(500), ..Aim::default() };
        let rule =
            aim.set(parse("auto:strictness=2,min_precision=0.1").expect("a rule").as_ref()).expect("it has both");
        assert_eq!(rule.to_string(), "auto:want=auto,strictness=2,target_recall=0,min_precision=0.8,budget_tokens=500");
    }

    #[test]
    fn without_aims_every_rule_stays_as_it_is() {
        for method in METHODS {
            let rule = parse(method.name).expect("a rule");
            let asked = TunedRule::new(rule.as_ref(), Want::Auto, &Aim::default()).expect("nothing is asked");
            assert_eq!(asked.rule().to_string(), rule.to_string());
            assert_eq!(asked.note(method.name), None);
        }
    }

    #[test]
    fn values_out_of_range_are_told_the_range() {
        let aim = Aim { target_recall: Some(2.0), ..Aim::default() };
        let error = aim.set(parse("auto").expect("a rule").as_ref()).expect_err("2 is no recall");
        assert_eq!(error.to_string(), "auto:target_recall must be a number from 0 to 0.999 and is 2");
    }

    #[test]
    fn the_note_says_what_was_set_or_why_nothing_was() {
        let note = |rule: &str, want, method: &str| {
            TunedRule::new(parse(rule).expect("a rule").as_ref(), want, &Aim::default()).expect("taken").note(method)
        };
        assert_eq!(note("auto", Want::All, "auto").as_deref(), Some("wanted: all"));
        assert_eq!(note("autocut", Want::Best, "autocut").as_deref(), Some("wanted: best (jumps=2)"));
        let otsu = "want=one has no effect on the cut otsu";
        assert_eq!(note("otsu", Want::One, "otsu").as_deref(), Some(otsu));
        let gate = "want=one has no effect here";
        assert_eq!(note("background", Want::One, "gate").as_deref(), Some(gate));
    }

    #[test]
    fn the_request_goes_before_the_configuration() {
        let mut config = Config::built_in();
        config.search.want = Want::All;
        let mut request = SearchRequest::new("x");
        assert!(request.tuned_rule(&config).expect("no aim").rule().to_string().starts_with("auto:want=all,"));
        request.want = Some(Want::Auto);
        assert_eq!(
            request.tuned_rule(&config).expect("no aim").rule().to_string(),
            config.search.cut.as_ref().expect("a rule").to_string()
        );
        request.cut = Some(parse("auto").expect("a rule"));
        request.aim.strictness = Some(3.0);
        assert!(request.tuned_rule(&config).expect("auto has it").rule().to_string().contains("strictness=3"));
    }
}
