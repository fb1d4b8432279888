//! `top_score`: a threshold from the best score.

use crate::cut::{Cut, NO_CANDIDATES, Value, figure, percent};
use crate::method::{Range, declare};
use crate::pool::{Orientation, Pool};
use crate::rule::Rule;

declare! {
    /// Keeps a share of the best score, stricter or milder by how good the best is.
    ///
    /// | best score | keeps at or above | `tier` |
    /// | --- | --- | --- |
    /// | at least `high_bound` | `high_multiplier` × best | `high` |
    /// | at least `low_bound` | `middle_multiplier` × best | `middle` |
    /// | lower | `floor` | `low` |
    ///
    /// Negative, zero and above-one scores follow the same table. At the edge of a tier the threshold jumps: a best
    /// score of 0.69 keeps from 0.414, one of 0.70 keeps from 0.35. The diagnostic `tier` names the tier, `seam_distance` the
    /// distance of the best score from the nearest edge (negative: below it), and `kept_on_other_side` the number that the
    /// tier beyond that edge would have kept. The reason mentions that number where the edge is near and the number differs.
    ///
    /// The candidates of some sources of a merged list can follow tables of their own
    /// ([`Pool::with_source_tables`](crate::Pool::with_source_tables)). Distances are read as 1 − distance. O(n).
    pub struct TopScore = "top_score" on Weighted, "keeps a share of the best score, by how good the best is"
    where low_bound <= high_bound
    {
        /// Best score from which the high tier applies.
        pub high_bound: f64 = 0.7, Range::Number { min: 0.0, max: 10.0 };
        /// Best score from which the middle tier applies.
        pub low_bound: f64 = 0.3, Range::Number { min: 0.0, max: 10.0 };
        /// Least share of the best score in the high tier.
        pub high_multiplier: f64 = 0.5, Range::Number { min: 0.0, max: 1.0 };
        /// Least share of the best score in the middle tier.
        pub middle_multiplier: f64 = 0.6, Range::Number { min: 0.0, max: 1.0 };
        /// Least score in the low tier.
        pub floor: f64 = 0.15, Range::Number { min: 0.0, max: 10.0 };
    }
}

/// A row of the table, chosen by the best score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tier {
    High,
    Middle,
    Low,
}

impl Tier {
    fn name(self) -> &'static str {
        match self {
            Tier::High => "high",
            Tier::Middle => "middle",
            Tier::Low => "low",
        }
    }
}

/// Distance from a seam, in scores, within which the reason mentions it.
const NEAR: f64 = 0.05;

impl TopScore {
    /// The score that a candidate must reach in a list whose best has `best`.
    ///
    /// In a merged list whose sources have tables of their own, a candidate must reach the line of its own source at the best
    /// score of the whole list; see [`SourceTable`](crate::SourceTable).
    pub fn line(&self, best: f64) -> f64 {
        self.line_in(self.tier(best), best)
    }

    fn tier(&self, best: f64) -> Tier {
        match best {
            best if best >= self.high_bound => Tier::High,
            best if best >= self.low_bound => Tier::Middle,
            _ => Tier::Low,
        }
    }

    fn line_in(&self, tier: Tier, best: f64) -> f64 {
        match tier {
            Tier::High => self.high_multiplier * best,
            Tier::Middle => self.middle_multiplier * best,
            Tier::Low => self.floor,
        }
    }

    /// The line in words.
    fn line_in_words(&self, best: f64) -> String {
        match self.tier(best) {
            Tier::High => format!("{} of the best score", percent(self.high_multiplier)),
            Tier::Middle => format!("{} of the best score", percent(self.middle_multiplier)),
            Tier::Low => format!("a score of {}", figure(self.floor)),
        }
    }

    /// The bound nearest to `best`.
    fn seam(&self, best: f64) -> f64 {
        let nearer = (best - self.low_bound).abs() < (best - self.high_bound).abs();
        if nearer { self.low_bound } else { self.high_bound }
    }
}

/// The candidates by the table that each follows.
struct Held<'a> {
    rule: &'a TopScore,
    /// All scores, descending.
    scores: Vec<f64>,
    /// The tables of sources with the scores of their candidates.
    sources: Vec<(&'a SourceTable, Vec<f64>)>,
}

impl<'a> Held<'a> {
    fn new(rule: &'a TopScore, pool: &'a Pool) -> Self {
        let score = |&value: &f64| match pool.orientation() {
            Orientation::Score => value,
            Orientation::Distance => 1.0 - value,
        };
        let held = |source: &'a SourceTable| {
            let finite = source.values.iter().filter(|value| value.is_finite());
            (source, finite.map(score).collect::<Vec<f64>>())
        };
        let sources = pool.source_tables().iter().map(held).filter(|(_, scores)| !scores.is_empty());
        Held { rule, scores: pool.as_similarities(), sources: sources.collect() }
    }

    /// The tables in use: those of the sources, and the rule's own unless every candidate belongs to a source with another.
    fn tables(&self) -> impl Iterator<Item = &'a TopScore> {
        let of_sources: usize = self.sources.iter().map(|(_, scores)| scores.len()).sum();
        let own = (of_sources < self.scores.len()).then_some(self.rule);
        own.into_iter().chain(self.sources.iter().map(|(source, _)| &source.table))
    }

    /// Number of candidates that reach the line of their table.
    fn keep(&self, line: impl Fn(&TopScore) -> f64) -> usize {
        let own = line(self.rule);
        let reach = |scores: &[f64], line: f64| scores.iter().filter(|score| **score >= line).count();
        let all = self.scores.partition_point(|&score| score >= own);
        let (without, with) = self.sources.iter().fold((0, 0), |(without, with), (source, scores)| {
            (without + reach(scores, own), with + reach(scores, line(&source.table)))
        });
        (all + with).saturating_sub(without)
    }

    /// The line of all candidates, where there is only one.
    fn common_line(&self, best: f64) -> Option<f64> {
        let mut lines = self.tables().map(|table| table.line(best));
        let first = lines.next()?;
        lines.all(|line| line == first).then_some(first)
    }

    /// The seam nearest to the best score.
    fn seam(&self, best: f64) -> f64 {
        let seams = self.tables().map(|table| table.seam(best));
        seams.reduce(|a, b| if (best - b).abs() < (best - a).abs() { b } else { a }).unwrap_or(self.rule.seam(best))
    }
}

impl Rule for TopScore {
    fn reads_sources(&self) -> bool {
        true
    }

    fn counts_passages(&self) -> bool {
        true
    }

    fn cut(&self, pool: &Pool) -> Cut {
        let held = Held::new(self, pool);
        let Some(&best) = held.scores.first() else {
            return Cut::new("top_score", pool, 0, NO_CANDIDATES);
        };
        let keep = held.keep(|table| table.line(best));
        let tier = self.tier(best);
        let least = self.line_in_words(best);
        let mut reason = match pool.len() - keep {
            0 => format!("all have at least {least}"),
            _ if keep == 0 => format!("nothing has at least {least}"),
            _ => format!("the rest have less than {least}"),
        };
        let apart = held.sources.iter().filter(|(source, _)| source.table.line(best) != self.line(best));
        for (source, _) in apart.clone() {
            reason = format!("{reason}; {} need {}", source.source, source.table.line_in_words(best));
        }

        // The number kept if the best score had fallen on the other side of the nearest seam.
        let seam = held.seam(best);
        let above = best >= seam;
        let beyond = if above { seam.next_down() } else { seam };
        let other = held.keep(|table| table.line_in(table.tier(beyond), best));
        let distance = best - seam;
        if other != keep && distance.abs() <= NEAR {
            let change = if above { "lower" } else { "higher" };
            reason = format!("{reason}; a slightly {change} best score would have kept {other}");
        }

        let mut cut = Cut::new("top_score", pool, keep, reason)
            .with("tier", tier.name())
            .with("best", best)
            .with("seam", seam)
            .with("seam_distance", distance)
            .with("kept_on_other_side", other);
        for (source, _) in apart {
            let line = Value::Number(source.table.line(best));
            cut.diagnostics.insert(format!("line_{}", source.source).into(), line);
        }
        match held.common_line(best) {
            Some(line) => cut.with_score_threshold(line),
            None => cut,
        }
    }
}

// Sources of a merged list that follow tables of their own.

/// The candidates of one source in a merged list, such as notes among notes and conversations, with the table that
/// [`TopScore`] applies to them in place of its own.
///
/// The best score of the whole list chooses the tier; the source's table gives the line. A candidate of a strict source can
/// therefore be left out while later ones stay, and the kept candidates no longer begin the list. The owner of the list
/// moves the candidates that reach the line of their source to the front, in their order:
///
/// ```
/// use tamis_cut::{Pool, Rule, SourceTable, TopScore};
///
/// let rule = TopScore::default();
/// let notes = TopScore { high_multiplier: 0.9, ..rule.clone() };
/// // By score; the second is a note.
/// let scores = [0.8, 0.6, 0.45, 0.3];
/// let line = |position: usize| if position == 1 { notes.line(scores[0]) } else { rule.line(scores[0]) };
/// let mut order = [0, 1, 2, 3];
/// order.sort_by_key(|&position| scores[position] < line(position));
///
/// let tables = vec![SourceTable { source: "notes".into(), table: notes.clone(), values: vec![0.6] }];
/// let cut = rule.cut(&Pool::scores(scores)?.with_source_tables(tables));
/// assert_eq!(order[..cut.keep], [0, 2]);
/// # Ok::<(), tamis_cut::PoolError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SourceTable {
    /// The source's name in the plural, for the reason.
    pub source: String,
    /// Its table.
    pub table: TopScore,
    /// The values of its candidates, which are in the pool too, in any order.
    pub values: Vec<f64>,
}

impl Pool {
    /// The pool with tables for the candidates of some sources, for [`TopScore`]; the others follow the rule's own.
    pub fn with_source_tables(self, tables: Vec<SourceTable>) -> Self {
        self.with(tables)
    }

    /// The tables of sources.
    pub fn source_tables(&self) -> &[SourceTable] {
        self.get::<Vec<SourceTable>>().map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(scores: &[f64]) -> Cut {
        TopScore::default().cut(&Pool::scores(scores.iter().copied()).unwrap())
    }

    #[test]
    fn the_table_of_tiers() {
        let cases: &[(&[f64], usize, f64, &str)] = &[
            (&[0.8, 0.4, 0.39], 2, 0.4, "high"),
            (&[1.5, 0.75, 0.7], 2, 0.75, "high"),
            (&[0.5, 0.3, 0.29], 2, 0.3, "middle"),
            (&[0.3, 0.2, 0.17], 2, 0.6 * 0.3, "middle"),
            (&[0.29, 0.15, 0.149], 2, 0.15, "low"),
            (&[0.14, 0.1], 0, 0.15, "low"),
            (&[0.0, 0.0], 0, 0.15, "low"),
            (&[-0.2, -0.4], 0, 0.15, "low"),
        ];
        for (scores, keep, threshold, tier) in cases {
            let cut = cut(scores);
            assert_eq!((cut.keep, cut.threshold), (*keep, Some(*threshold)), "{scores:?}");
            assert_eq!(cut.diagnostics["tier"].as_text(), Some(*tier), "{scores:?}");
        }
        assert_eq!((cut(&[]).keep, cut(&[]).threshold), (0, None));
    }

    #[test]
    fn trap_both_sides_of_the_seam_are_told_unless_it_is_far_or_changes_nothing() {
        let below = cut(&[0.69, 0.42, 0.41, 0.36, 0.34]);
        assert_eq!((below.keep, below.threshold), (2, Some(0.6 * 0.69)));
        assert_eq!(below.diagnostics["tier"].as_text(), Some("middle"));
        assert_eq!(below.diagnostics["kept_on_other_side"].as_integer(), Some(4), "0.345 and more");
        assert_eq!(below.diagnostics["seam"].as_number(), Some(0.7));
        assert!((below.diagnostics["seam_distance"].as_number().unwrap() + 0.01).abs() < 1e-12);
        let told = "the rest have less than 60% of the best score; a slightly higher best score would have kept 4";
        assert_eq!(below.reason, told);
        let at = cut(&[0.70, 0.42, 0.41, 0.36, 0.34]);
        assert_eq!((at.keep, at.threshold), (4, Some(0.35)));
        assert_eq!(at.diagnostics["tier"].as_text(), Some("high"));
        assert_eq!(at.diagnostics["kept_on_other_side"].as_integer(), Some(2), "0.42 and more");
        assert!(at.reason.ends_with("; a slightly lower best score would have kept 2"), "{}", at.reason);
        let low = cut(&[0.29, 0.16, 0.1]);
        assert_eq!((low.keep, low.diagnostics["kept_on_other_side"].as_integer()), (2, Some(1)), "0.174 and more");
        assert_eq!(low.diagnostics["seam"].as_number(), Some(0.3));
        for scores in [&[0.9, 0.5][..], &[0.69, 0.1], &[0.71, 0.6]] {
            assert!(!cut(scores).reason.contains("slightly"), "{}", cut(scores).reason);
        }
    }

    fn with_table(scores: &[f64], table: TopScore, values: &[f64]) -> Cut {
        let tables = vec![SourceTable { source: "notes".into(), table, values: values.to_vec() }];
        TopScore::default().cut(&Pool::scores(scores.iter().copied()).unwrap().with_source_tables(tables))
    }

    #[test]
    fn each_source_is_held_to_its_own_table_at_the_best_of_all_if_it_says_anything_else() {
        let strict = TopScore { high_multiplier: 0.9, ..TopScore::default() };
        // From 0.4 by the rule, from 0.72 for notes: 0.6 and 0.5 are notes.
        let cut = with_table(&[0.8, 0.6, 0.5, 0.45, 0.3], strict.clone(), &[0.6, 0.5]);
        assert_eq!((cut.keep, cut.threshold), (2, None), "0.8 and 0.45");
        assert_eq!(cut.diagnostics["line_notes"].as_number(), Some(0.9 * 0.8));
        assert_eq!(cut.reason, "the rest have less than 50% of the best score; notes need 90% of the best score");
        // The best may itself be of the source, and all may be.
        assert_eq!(with_table(&[0.8, 0.6, 0.5, 0.45], strict.clone(), &[0.8, 0.6]).keep, 3);
        let all = with_table(&[0.8, 0.75, 0.5], strict, &[0.8, 0.75, 0.5]);
        assert_eq!((all.keep, all.threshold), (2, Some(0.9 * 0.8)));
        // A milder source keeps what the rule would not.
        let mild = TopScore { floor: 0.05, ..TopScore::default() };
        assert_eq!(with_table(&[0.2, 0.1, 0.1], mild, &[0.1]).keep, 2);
        for scores in [&[0.8, 0.4, 0.39][..], &[0.69, 0.42, 0.36], &[0.2, 0.15], &[-0.1]] {
            let cut = with_table(scores, TopScore::default(), &scores[..1]);
            assert_eq!(cut, super::tests::cut(scores));
        }
        assert_eq!(with_table(&[0.8, 0.3], TopScore { floor: 0.9, ..TopScore::default() }, &[]).threshold, Some(0.4));
    }

    #[test]
    fn a_sources_own_seam_counts_too_and_distances_are_read_as_similarities() {
        let table = TopScore { high_bound: 0.5, ..TopScore::default() };
        let cut = with_table(&[0.49, 0.27, 0.25], table, &[0.27, 0.25]);
        assert_eq!((cut.keep, cut.diagnostics["seam"].as_number()), (1, Some(0.5)));
        assert_eq!(cut.diagnostics["kept_on_other_side"].as_integer(), Some(3), "from 0.245 for notes");
        let cut = TopScore::default().cut(&Pool::distances([0.25, 0.5, 0.75]).unwrap());
        assert_eq!((cut.keep, cut.threshold), (2, Some(0.375)));
        assert_eq!(cut.diagnostics["threshold_on"].as_text(), Some("score"));
    }
}
