//! `auto`: keeps the number of candidates with the best expected F, by probabilities of relevance and not by the shape of
//! the list.

mod budget;
mod counts;
mod expectation;
mod explain;
mod fit;
mod judge;
mod relevance;
mod text_kind;

pub use fit::JudgedPool;
pub use judge::Judgements;
pub use relevance::{Basis, Relevance};
pub use text_kind::TextKind;

use crate::cut::Cut;
use crate::declare::declare;
use crate::parameter::Range;
use crate::pool::Pool;
use crate::reason::{BY_LIST_ALONE, NO_CANDIDATES, NOTHING_CLOSE};
use crate::rule::Rule;
use crate::value::Value;
use crate::want::Want;
use expectation::{Expectation, Needed, Scenario, expectations};
use explain::{Aim, explain};
use relevance::mixed;

declare! {
    /// Keeps the candidates whose expected F_β is highest, or that meet an expected recall, a precision or a budget.
    ///
    /// A [`Relevance`] turns each candidate's normalized score, (s − μ) / (s₁ − μ) with s₁ the best value and μ the background
    /// mean, into a probability of relevance. The pool's own [`Relevance`] comes from judged queries of the collection;
    /// otherwise the built-in one applies. [`Judgements`] of single candidates, where the pool has them, change the
    /// probabilities and the order: the cut then comes with an [`order`](Cut::order). For every number of candidates to keep, none included, the rule
    /// computes the exact expected F_β (Poisson binomial; Ye et al., ICML 2012), averaged over the scores at which relevance
    /// may end. Relevant passages that the pool cut off count as missed.
    ///
    /// Scaling or shifting the values changes nothing when the background moves along. A pool without a background has μ
    /// estimated as the value of its last candidate, and the diagnostic `background` reads `estimated`. O(n · w), w the
    /// number of undecided candidates: well under a millisecond for 200.
    pub struct Auto = "auto" on Score, "keeps what is expected to serve best, by probabilities of relevance" {
        /// The amount wanted: `one` answer, `some`, `all` on the topic, or `auto`: by the kind of text and what was judged.
        pub want: Want = Want::Auto, Range::Choice(Want::NAMES);
        /// Weight of precision relative to recall: F_β with β = 1 / strictness.
        pub strictness: f64 = 1.0, Range::Number { min: 0.1, max: 10.0 };
        /// Keep the fewest candidates with this expected recall, in place of the best F; 0: off.
        pub target_recall: f64 = 0.0, Range::Number { min: 0.0, max: 0.999 };
        /// Never keep more than have this expected precision; 0: off.
        pub min_precision: f64 = 0.0, Range::Number { min: 0.0, max: 0.999 };
        /// Never keep more than so many tokens of text, where the pool says how many each candidate has; 0: off.
        pub budget_tokens: usize = 0, Range::Integer { min: 0, max: 10_000_000 };
    }
}

/// Candidates beyond this many, best first, differ too little in probability to decide by.
const DEEPEST: usize = 400;

/// Puts the candidates of all scenarios in the order of their probability. Returns the order of all `count` candidates, as
/// positions in the pool.
fn ordered(scenarios: &mut [Scenario], count: usize) -> Vec<usize> {
    let probabilities = mixed(scenarios);
    let mut order: Vec<usize> = (0..count).collect();
    order[..probabilities.len()].sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    for scenario in scenarios {
        let sorted = order[..probabilities.len()].iter().map(|&at| scenario.probabilities[at]);
        scenario.probabilities = sorted.collect();
    }
    order
}

impl Rule for Auto {
    fn cut(&self, pool: &Pool) -> Cut {
        let (Some(&best), Some(&worst)) = (pool.values().first(), pool.values().last()) else {
            return Cut::new("auto", pool, 0, NO_CANDIDATES);
        };
        let (best, worst) = (pool.mirrored(best), pool.mirrored(worst));
        let measured = pool.background().map(|background| pool.mirrored(background.mean));
        let mean = measured.unwrap_or(worst);
        let source = if measured.is_some() { "measured" } else { "estimated" };
        if best <= mean && measured.is_some() {
            return Cut::new("auto", pool, 0, NOTHING_CLOSE)
                .with("background", source)
                .with("background_mean", pool.mirrored(mean))
                .with("best", pool.mirrored(best));
        }
        let listed = pool.normalized_above(mean);
        let relevance = pool.relevance().copied().unwrap_or_default().wanted(self.want);

        let depth = listed.len().min(DEEPEST);
        let moved = pool.judgements().and_then(|judgements| judgements.moved(&listed));
        let (scores, judgements) = match &moved {
            Some(moved) => (&moved.scores, Some(&moved.judgements)),
            None => (&listed, pool.judgements()),
        };
        let mut scenarios = relevance.scenarios(&scores[..depth], judgements);
        let by_probability = judgements.map(|_| ordered(&mut scenarios, scores.len()));
        let order = by_probability.map(|order| match &moved {
            Some(moved) => order.into_iter().map(|at| moved.order[at]).collect(),
            None => order,
        });
        let needed = if self.target_recall > 0.0 { Needed::All } else { Needed::UpToBest };
        let mut probabilities = mixed(&scenarios);
        let table = expectations(&scenarios, &probabilities, 1.0 / self.strictness.clamp(0.1, 10.0), needed);
        let within = self.affordable(pool, order.as_deref(), depth);
        let (keep, aim) = self.choose(&table, within);

        if depth < scores.len() {
            probabilities.extend(relevance.probabilities(scores).into_iter().skip(depth));
        }
        let unaffordable = self.unaffordable(pool, order.as_deref(), &table, within);
        let mut reason = match &unaffordable {
            Some(tokens) => {
                format!("the best match has {tokens} tokens and the budget is {}; raise the budget", self.budget_tokens)
            }
            None => explain(&table, keep, &probabilities, aim),
        };
        if measured.is_none() {
            reason += BY_LIST_ALONE;
        }
        let mut cut = Cut::new("auto", pool, keep, reason)
            .with("background", source)
            .with("background_mean", pool.mirrored(mean))
            .with("best", pool.mirrored(best))
            .with("basis", relevance.basis.to_string())
            .with("level", relevance.level)
            .with("spread", relevance.spread)
            .with("expected_f", table[keep].f)
            .with("expected_precision", table[keep].precision)
            .with("expected_recall", table[keep].recall)
            .with("expected_f_of_nothing", table[0].f);
        if let Some(tokens) = unaffordable {
            cut = cut.with("best_tokens", tokens);
        }
        if let Some(&probability) = keep.checked_sub(1).and_then(|last| probabilities.get(last)) {
            let last = order.as_ref().map_or(keep - 1, |order| order[keep - 1]);
            cut = cut.with("probability_at_cut", probability).with("normalized_score_at_cut", listed[last]);
        }
        if let Some(&next) = probabilities.get(keep) {
            cut = cut.with("next_probability", next);
        }
        if let Some(next) = table.get(keep + 1) {
            cut = cut.with("next_expected_f", next.f);
        }
        if let Some(order) = &order {
            let by_scores = relevance.probabilities(&listed);
            cut.by_scores = order.iter().map(|&at| by_scores[at]).collect();
        }
        cut.probabilities = probabilities;
        cut.order = order;
        cut
    }

    fn heeds_measured_thresholds(&self) -> bool {
        true
    }

    fn strictness(&self, want: Want) -> Option<(&'static str, Value)> {
        Some(("want", Value::from(want.name())))
    }

    fn reads_relevance(&self) -> bool {
        true
    }

    fn reads_sizes(&self) -> bool {
        self.budget_tokens > 0
    }

    fn token_budget(&self) -> Option<usize> {
        Some(self.budget_tokens).filter(|&tokens| tokens > 0)
    }
}

impl Auto {
    /// The number of candidates to keep, and the aim that decided it.
    fn choose(&self, table: &[Expectation], within: usize) -> (usize, Aim) {
        let precise = |kept: &usize| self.min_precision == 0.0 || table[*kept].precision >= self.min_precision;
        // Precision never rises with more candidates, so the first that is too low ends it.
        let most = (0..=within).take_while(precise).last().unwrap_or(0);
        // If most likely nothing is relevant, no recall can be reached, and keeping nothing stays a choice.
        if self.target_recall > 0.0 && table[0].f < 0.5 {
            let enough = (0..=most).find(|&kept| table[kept].recall >= self.target_recall);
            return match enough {
                Some(kept) => (kept, Aim::Recall(self.target_recall)),
                None => (most, Aim::RecallMissed(self.target_recall)),
            };
        }
        let best = (0..=most).fold(0, |best, kept| if table[kept].f > table[best].f { kept } else { best });
        let aim = match (most < within, within + 1 < table.len() && best == within) {
            (true, _) => Aim::Precision(self.min_precision),
            (_, true) => Aim::Budget(self.budget_tokens),
            _ => Aim::BestF,
        };
        (best, aim)
    }
}

#[cfg(test)]
mod tests;
