//! Language and age: the adjustments of a candidate besides the query.

use super::answer::CutReport;
use super::candidate::Candidate;
use super::question::Question;
use super::searcher::Searcher;
use crate::Error;
use crate::config::{RankConfig, RecencyFrom, RecencyUse};
use std::collections::BTreeMap;
use tamis_cut::Rule;
use tamis_rank::{Adjustment, LanguageMatch};
use tamis_store::StoredPassage;
use tamis_text::{Language, Relation};

/// The adjustments of the candidates of one search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Adjustments {
    /// The language to prefer.
    pub hint: Option<&'static str>,
    /// The reference times for ages; `None`: age changes nothing.
    ages: Option<Ages>,
    config: RankConfig,
}

/// The reference times for ages.
#[derive(Clone, Debug, PartialEq)]
struct Ages {
    now_ns: i64,
    /// The date of the newest document of each namespace; empty: ages are counted from the present.
    newest: BTreeMap<String, i64>,
}

impl Ages {
    /// Returns the time that the ages of a namespace's passages are counted from, which is never in the future.
    fn from(&self, namespace: &str) -> i64 {
        self.newest.get(namespace).map_or(self.now_ns, |&newest| newest.min(self.now_ns))
    }
}

/// The severities that keep more of their value over time.
const SEVERE: [&str; 2] = ["critical", "major"];

impl Searcher<'_> {
    /// Returns the adjustments of a search under `rule`. Memories decay by other settings, so age leaves them alone unless it is on
    /// for every search.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn adjustments(&self, question: &Question, rule: &dyn Rule) -> Result<Adjustments, Error> {
        let Question { hint, now_ns, memory, .. } = *question;
        let config = self.index.config.rank;
        let aged = match config.use_recency {
            RecencyUse::On => true,
            RecencyUse::Off => false,
            RecencyUse::Auto => rule.reads_aged_distances() && !memory,
        };
        let newest = match config.recency_from {
            RecencyFrom::Newest if aged => self.index.store.newest_dates()?.into_iter().collect(),
            _ => BTreeMap::new(),
        };
        Ok(Adjustments { hint, ages: aged.then_some(Ages { now_ns, newest }), config })
    }
}

impl Adjustments {
    /// Returns a passage's language: the stored one, or else that of its path.
    pub fn language_of<'p>(&self, passage: &'p StoredPassage) -> Option<&'p str> {
        passage.language.as_deref().or_else(|| Language::of(&passage.path, "").map(|found| found.name))
    }

    /// Returns the relation of a passage's language to the hinted one.
    pub fn language(&self, passage: &StoredPassage) -> LanguageMatch {
        match self.hint.and_then(|hint| Some(Language::relation(hint, self.language_of(passage)?))) {
            Some(Relation::Same) => LanguageMatch::Same,
            Some(Relation::Related) => LanguageMatch::Related,
            Some(Relation::Other) | None => LanguageMatch::Other,
        }
    }

    /// Returns the date that a passage's age is counted from: its last commit if known, or else the file's last change.
    fn date(passage: &StoredPassage) -> Option<i64> {
        passage.dated_ns.or(Some(passage.modified_ns).filter(|&modified| modified > 0))
    }

    /// Returns the adjustment of a passage.
    pub fn adjustment(&self, passage: &StoredPassage) -> Adjustment {
        let language = self.hint.map_or(1.0, |_| self.config.language.factor(self.language(passage)));
        let severe = passage.severity.as_deref().is_some_and(|severity| SEVERE.contains(&severity));
        let recency = self
            .ages
            .as_ref()
            .map_or(1.0, |ages| self.config.recency.factor(Self::date(passage), ages.from(&passage.namespace), severe));
        Adjustment::of(language, recency)
    }

    /// Returns `true` if age adjusts candidates.
    pub fn by_age(&self) -> bool {
        self.ages.is_some()
    }

    /// The age of a passage in days, as it moves the passage; `None` where age moves nothing or there is no date.
    pub fn age_days(&self, passage: &StoredPassage) -> Option<f64> {
        let from = self.ages.as_ref()?.from(&passage.namespace);
        Some(((from as f64 - Self::date(passage)? as f64) / 86_400e9).max(0.0))
    }

    /// Adds a note to the reason of an empty cut if age alone put the nearest candidate beyond it.
    pub fn explain(&self, cut: &mut CutReport, candidates: &[&Candidate]) {
        let distances = candidates.iter().filter_map(|candidate| {
            let similarity = candidate.scores.similarity?;
            Some((1.0 - similarity, 1.0 - candidate.adjustment.similarity(similarity)))
        });
        let nearest = distances.min_by(|a, b| a.1.total_cmp(&b.1));
        let on_distance = cut.diagnostics.get("threshold_on").is_some_and(|scale| scale == "distance");
        if let (true, 0, true, Some((raw, moved)), Some(threshold)) =
            (self.by_age(), cut.keep, on_distance, nearest, cut.threshold)
            && raw <= threshold
        {
            let reason = cut.reason.trim_end_matches('.');
            cut.reason = format!("{reason}; the nearest match is too old (rank.recency)");
            cut.diagnostics.insert("nearest_before_age".into(), raw.into());
            cut.diagnostics.insert("nearest_after_age".into(), moved.into());
        }
    }

    /// Returns its settings for a scoring key, by name.
    pub fn scoring(&self) -> impl Iterator<Item = (&'static str, String)> {
        let RankConfig { language, recency, .. } = self.config;
        let by_language = self.hint.map(|_| ("language", format!("{} {}", language.same, language.related)));
        let from = if self.config.recency_from == RecencyFrom::Newest { " newest" } else { "" };
        let age = || format!("{} {} {}{from}", recency.half_life_days, recency.floor, recency.severe_floor);
        let by_age = self.ages.as_ref().map(|_| ("recency", age()));
        [by_language, by_age].into_iter().flatten()
    }
}
