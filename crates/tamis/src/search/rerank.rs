//! Language and age: the adjustments of a candidate besides the query.

use super::answer::CutReport;
use super::candidate::Ranked;
use crate::config::{RankConfig, RecencyUse};
use tamis_cut::Rule;
use tamis_rank::{Adjustment, LanguageMatch};
use tamis_store::StoredPassage;
use tamis_text::{Language, Relation};

/// The adjustments of the candidates of one search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rerank {
    /// The language to prefer.
    pub hint: Option<&'static str>,
    /// The reference time for ages; `None`: age changes nothing.
    now_ns: Option<i64>,
    config: RankConfig,
}

/// The severities that keep more of their value over time.
const SEVERE: [&str; 2] = ["critical", "major"];

impl Rerank {
    /// Returns the same without age, unless it is on for every search.
    pub fn unaged(self) -> Self {
        Rerank { now_ns: self.now_ns.filter(|_| self.config.use_recency == RecencyUse::On), ..self }
    }

    /// Returns the adjustments of a search under `rule`.
    pub fn new(config: &RankConfig, hint: Option<&'static str>, now_ns: i64, rule: &dyn Rule) -> Self {
        let aged = match config.use_recency {
            RecencyUse::On => true,
            RecencyUse::Off => false,
            RecencyUse::Auto => rule.reads_aged_distances(),
        };
        Rerank { hint, now_ns: aged.then_some(now_ns), config: *config }
    }

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
    pub fn date(passage: &StoredPassage) -> Option<i64> {
        passage.dated_ns.or(Some(passage.modified_ns).filter(|&modified| modified > 0))
    }

    /// Returns the adjustment of a passage.
    pub fn of(&self, passage: &StoredPassage) -> Adjustment {
        let language = self.hint.map_or(1.0, |_| self.config.language.factor(self.language(passage)));
        let severe = passage.severity.as_deref().is_some_and(|severity| SEVERE.contains(&severity));
        let recency = self.now_ns.map_or(1.0, |now| self.config.recency.factor(Self::date(passage), now, severe));
        Adjustment::of(language, recency)
    }

    /// Returns `true` if age adjusts candidates.
    pub fn by_age(&self) -> bool {
        self.now_ns.is_some()
    }

    /// Adds a note to the reason of an empty cut if age alone put the nearest candidate beyond it.
    pub fn explain(&self, cut: &mut CutReport, ranked: &[Ranked]) {
        let distances = ranked.iter().filter_map(|ranked| {
            let similarity = ranked.candidate.similarity?;
            Some((1.0 - similarity, 1.0 - ranked.adjustment.similarity(similarity)))
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
        let age = || format!("{} {} {}", recency.half_life_days, recency.floor, recency.severe_floor);
        let by_age = self.now_ns.map(|_| ("recency", age()));
        [by_language, by_age].into_iter().flatten()
    }
}
