//! Age in a search of memories: how much of each candidate's value is left.
//!
//! The candidates stand in the order of what is left of their values. A cut reads the same values in units of what is left of
//! the first one's, so that age decides which of several memories is meant and never whether there is one: what was last
//! spoken of half a year ago is still the answer where nothing newer is.

use super::answer::CutReport;
use crate::config::DecayConfig;
use tamis_rank::Decay;
use tamis_store::StoredPassage;

/// How the candidates of one search fade.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fading<'a> {
    /// What fades, and how fast; `None`: nothing does.
    config: Option<&'a DecayConfig>,
    now_ns: i64,
}

impl<'a> Fading<'a> {
    /// Nothing fades.
    pub const NONE: Fading<'static> = Fading { config: None, now_ns: 0 };

    /// What the configuration says, counted from `now_ns`.
    pub fn new(config: &'a DecayConfig, now_ns: i64) -> Self {
        Fading { config: Some(config).filter(|config| !config.collections.is_empty()), now_ns }
    }

    /// Whether anything can fade.
    pub fn is_on(&self) -> bool {
        self.config.is_some()
    }

    /// The date that a passage fades by: its own or its document's, never that of the file. `None` for what does not fade.
    pub fn date(&self, passage: &StoredPassage) -> Option<i64> {
        let config = self.config?;
        let name = passage.path.rsplit('/').next().unwrap_or(&passage.path);
        let fades = config.collections.contains(&passage.collection)
            && !config.evergreen.iter().any(|evergreen| evergreen.eq_ignore_ascii_case(name));
        passage.dated_ns.filter(|_| fades)
    }

    /// What is left of a passage's value, in (0, 1].
    pub fn factor(&self, passage: &StoredPassage) -> f64 {
        self.config.map_or(1.0, |config| config.decay.factor(self.date(passage), self.now_ns))
    }

    /// What it does, in words, as a part of what scores are made by.
    pub fn describe(&self) -> String {
        let Some(DecayConfig { collections, decay, evergreen }) = self.config else { return String::new() };
        let but = if evergreen.is_empty() { String::new() } else { format!(" but {}", evergreen.join(" ")) };
        format!(", decay {} of {}{but}", decay.half_life_days, collections.join(" "))
    }

    /// Adds to a decided cut that it read values before the age of the best one, and brings its threshold to the scale of the
    /// values that are shown.
    pub fn explain(cut: &mut CutReport, left_of_best: f64) {
        if left_of_best >= 1.0 {
            return;
        }
        if cut.diagnostics.get("threshold_on").is_some_and(|scale| scale == "score") {
            cut.threshold = cut.threshold.map(|threshold| Decay::apply(threshold, left_of_best));
        }
        cut.diagnostics.insert("left_of_best".into(), left_of_best.into());
        let reason = cut.reason.trim_end_matches('.');
        cut.reason = format!("{reason}; by its age {} of the best one's score is left", share(left_of_best));
    }
}

/// A share in percent, however small.
fn share(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 1.0 { format!("{percent:.0}%") } else { "less than 1%".to_owned() }
}
