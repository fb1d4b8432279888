//! `auto`: what to keep is decided by what is believed to be relevant, not by the shape of the list.

mod counts;
mod expectation;
mod fit;
mod profile;
mod relevance;

pub use fit::JudgedPool;
pub use profile::{Profile, focus};
pub use relevance::{Basis, Relevance};

use crate::cut::Cut;
use crate::method::{Range, declare};
use crate::pool::Pool;
use crate::rule::Rule;
use crate::text::figure;
use crate::want::Want;
use expectation::{Expectation, expectations};

declare! {
    /// Keeps the candidates whose expected F_β is highest, or that meet an expected recall, a precision or a budget.
    ///
    /// Each candidate's height, (s − μ) / (s₁ − μ) with s₁ the best value and μ the background mean, becomes a probability
    /// of relevance under a [`Relevance`], which is the pool's own where it has one (from past queries of the collection or
    /// from judged ones) and otherwise the built-in one. Then every number of candidates to keep, none included, is
    /// weighed by the expected F_β of keeping so many, exactly (Poisson binomial; Ye et al., ICML 2012), averaged over where
    /// relevance may end. Relevant passages that the pool cut off count as missed.
    ///
    /// Scaling the values or adding to them changes nothing when the background moves along. A pool without a background
    /// has μ estimated as the value of its last candidate, and the diagnostic `background` says `estimated`.
    /// O(n · w), w the number of undecided candidates: well under a millisecond for 200.
    pub struct Auto = "auto" on Score, "keeps what is expected to serve best, by probabilities of relevance" {
        /// What is wanted: `one` answer, `some`, `all` on the topic, or `auto`: what the collection's past queries say.
        pub want: Want = Want::Auto, Range::Choice(Want::NAMES);
        /// How much more precision counts than recall: F_β with β = 1 / strictness.
        pub strictness: f64 = 1.0, Range::Number { min: 0.1, max: 10.0 };
        /// Keep the fewest candidates with this expected recall, in place of the best F; 0: off.
        pub target_recall: f64 = 0.0, Range::Number { min: 0.0, max: 0.999 };
        /// Never keep more than have this expected precision; 0: off.
        pub min_precision: f64 = 0.0, Range::Number { min: 0.0, max: 0.999 };
        /// Never keep more than so many tokens of text, where the pool says how many each candidate has; 0: off.
        pub budget_tokens: usize = 0, Range::Integer { min: 0, max: 10_000_000 };
    }
}

/// Candidates from here on, best first, are too many to tell apart by their probabilities.
const DEEPEST: usize = 400;

impl Rule for Auto {
    fn cut(&self, pool: &Pool) -> Cut {
        let values = pool.descending();
        let (Some(&best), Some(&worst)) = (values.first(), values.last()) else {
            return Cut::new("auto", pool, 0, "there are no candidates");
        };
        let measured = pool.background().map(|background| pool.mirrored(background.mean));
        let mean = measured.unwrap_or(worst);
        let source = if measured.is_some() { "measured" } else { "estimated" };
        if best <= mean && measured.is_some() {
            let reason = format!(
                "the best value, {}, does not stand out of the background mean, {}",
                figure(pool.mirrored(best)),
                figure(pool.mirrored(mean))
            );
            return Cut::new("auto", pool, 0, reason).with("background", source);
        }
        let heights = pool.heights_above(mean);
        let relevance = self.want.apply(pool.relevance().copied().unwrap_or_default());

        let depth = heights.len().min(DEEPEST);
        let table = expectations(&relevance.scenarios(&heights[..depth]), 1.0 / self.strictness.clamp(0.1, 10.0));
        let within = self.affordable(pool, depth);
        let (keep, aim) = self.choose(&table, within);

        let probabilities = relevance.probabilities(&heights);
        let unaffordable = self.unaffordable(pool, &table, within);
        let mut reason = match &unaffordable {
            Some(tokens) => format!(
                "the best candidate is relevant with {}, but has {tokens} tokens, and the budget is {}: raise the budget",
                share(probabilities.first().copied().unwrap_or(0.0)),
                self.budget_tokens
            ),
            None => explain(&table, keep, &probabilities, &aim, &relevance),
        };
        if measured.is_none() {
            reason += "; the last candidate stands in for the unknown background";
        }
        let mut cut = Cut::new("auto", pool, keep, reason)
            .with("background", source)
            .with("background_mean", pool.mirrored(mean))
            .with("best", pool.mirrored(best))
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
            cut = cut.with("probability_at_cut", probability).with("height_at_cut", heights[keep - 1]);
        }
        if let Some(&next) = probabilities.get(keep) {
            cut = cut.with("next_probability", next);
        }
        if let Some(next) = table.get(keep + 1) {
            cut = cut.with("next_expected_f", next.f);
        }
        cut.probabilities = probabilities;
        cut
    }

    fn reads_sizes(&self) -> bool {
        self.budget_tokens > 0
    }
}

impl Auto {
    /// How many candidates the budget pays for.
    fn affordable(&self, pool: &Pool, depth: usize) -> usize {
        if self.budget_tokens == 0 {
            return depth;
        }
        let mut spent = 0_usize;
        let fits = |rank: &usize| {
            spent = spent.saturating_add(pool.size(*rank).unwrap_or(0));
            spent <= self.budget_tokens
        };
        (0..depth).take_while(fits).count()
    }

    /// The size of the best candidate, where that alone is why nothing is kept.
    fn unaffordable(&self, pool: &Pool, table: &[Expectation], within: usize) -> Option<usize> {
        let only_for_the_budget = within == 0 && self.choose(table, table.len() - 1).0 > 0;
        pool.size(0).filter(|_| only_for_the_budget)
    }

    /// How many to keep, and what for.
    fn choose(&self, table: &[Expectation], within: usize) -> (usize, String) {
        let precise = |kept: &usize| self.min_precision == 0.0 || table[*kept].precision >= self.min_precision;
        // Precision never rises with more candidates, so the first that is too low ends it.
        let most = (0..=within).take_while(precise).last().unwrap_or(0);
        // Where most likely nothing is relevant, there is no recall to reach for, and keeping nothing stays a choice.
        if self.target_recall > 0.0 && table[0].f < 0.5 {
            let enough = (0..=most).find(|&kept| table[kept].recall >= self.target_recall);
            return match enough {
                Some(kept) => (kept, format!("the fewest with an expected recall of {}", figure(self.target_recall))),
                None => (
                    most,
                    format!(
                        "as many as there may be: an expected recall of {} is not reached",
                        figure(self.target_recall)
                    ),
                ),
            };
        }
        let best = (0..=most).fold(0, |best, kept| if table[kept].f > table[best].f { kept } else { best });
        let limit = match (most < within, within + 1 < table.len() && best == within) {
            (true, _) => " within the precision asked for",
            (_, true) => " within the budget",
            _ => "",
        };
        (best, format!("the highest expected F{limit}"))
    }
}

fn share(number: f64) -> String {
    format!("{:.0}%", 100.0 * number)
}

fn explain(table: &[Expectation], keep: usize, probabilities: &[f64], aim: &str, relevance: &Relevance) -> String {
    let basis = match relevance.basis {
        Basis::BuiltIn => "built-in constants".to_owned(),
        Basis::PastQueries(1) => "1 past query".to_owned(),
        Basis::PastQueries(queries) => format!("{queries} past queries"),
        Basis::Judged(1) => "1 judged query".to_owned(),
        Basis::Judged(queries) => format!("{queries} judged queries"),
        Basis::Asked => "what is wanted".to_owned(),
    };
    if keep == 0 {
        return format!(
            "keeping nothing has {aim}: the best candidate is relevant with {} (by {basis})",
            share(probabilities.first().copied().unwrap_or(0.0))
        );
    }
    let next = match (probabilities.get(keep), table.get(keep + 1)) {
        (Some(&probability), Some(_)) => format!("; the next one is relevant with {}", share(probability)),
        _ => String::new(),
    };
    format!(
        "{aim}: expected precision {}, expected recall {}; the last one kept is relevant with {}{next} (by {basis})",
        share(table[keep].precision),
        share(table[keep].recall),
        share(probabilities[keep - 1]),
    )
}

#[cfg(test)]
mod tests;
