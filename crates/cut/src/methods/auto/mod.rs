//! `auto`: keeps the number of candidates with the best expected F, by probabilities of relevance and not by the shape of
//! the list.

mod counts;
mod expectation;
mod relevance;
#[cfg(test)]
mod tests;

use crate::cut::{ALL_EQUAL, BY_LIST_ALONE, Cut, NO_CANDIDATES, NOTHING_CLOSE, Value, grouped, percent};
use crate::method::{Range, declare};
use crate::pool::{Orientation, Pool};
use crate::rule::{Rule, Want};
use expectation::{Expectation, Needed, expectations};
use relevance::{Step, mixed};

pub use relevance::{Basis, Relevance};

declare! {
    /// Keeps the candidates whose expected F_β is highest, or that meet an expected recall, a precision or a budget.
    ///
    /// A [`Relevance`] turns each candidate's normalized score, (s − μ) / (s₁ − μ) with s₁ the best value and μ the background
    /// mean, into a probability of relevance. The pool's own [`Relevance`] comes from judged queries of the collection;
    /// otherwise the built-in one applies. For every number of candidates to keep, none included, the rule
    /// computes the exact expected F_β (Poisson binomial; Ye et al., ICML 2012), averaged over the scores at which relevance
    /// may end. Relevant passages that the pool cut off count as missed.
    ///
    /// A pool with [probabilities](Pool::with_probabilities) is decided by these and not by its scores. Where nothing is said of what is
    /// wanted, all that pass the [`Gate`](crate::Gate)'s level are kept. Otherwise β follows what is wanted: 0.5 for the one answer, 2 for
    /// the best ones and where no gate decides, and 4 for all.
    ///
    /// Scaling or shifting the values changes nothing when the background moves along. A pool without a background has μ estimated as
    /// the value of its last candidate, and the diagnostic `background` reads `estimated`. Then the cut has no probabilities, unless
    /// labels gave the pool its [`Relevance`]: a scale that nothing measured only shows where the list breaks. O(n · w), w the number
    /// of undecided candidates: well under a millisecond for 200.
    pub struct Auto = "auto" on Score, "keeps what is expected to serve best, by probabilities of relevance" {
        /// The amount wanted: `one` answer, the `best`, `all` on the topic, or `auto`: what is expected to serve best.
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

/// The difference of the best and the last value, in relation to the best, at which a list without a background counts as equal.
const ALIKE: f64 = 1e-3;

/// Candidates beyond this many, best first, differ too little in probability to decide by.
const DEEPEST: usize = 400;

impl Rule for Auto {
    fn cut(&self, pool: &Pool) -> Cut {
        let (Some(&best), Some(&worst)) = (pool.values().first(), pool.values().last()) else {
            return Cut::new("auto", pool, 0, NO_CANDIDATES);
        };
        if let Some(probabilities) = pool.probabilities() {
            return self.by_probabilities(pool, probabilities);
        }
        let (best, worst) = (pool.mirrored(best), pool.mirrored(worst));
        let measured = pool.background().map(|background| pool.mirrored(background.mean));
        let mean = measured.unwrap_or(worst);
        let source = if measured.is_some() { "measured" } else { "estimated" };
        if measured.is_none() && best - worst <= ALIKE * best.abs() {
            // Nothing tells these apart. Scores of zero say that nothing was found.
            let zero = best == 0.0 && pool.orientation() == Orientation::Score;
            let (keep, reason) = if zero { (0, NOTHING_CLOSE) } else { (pool.len(), ALL_EQUAL) };
            return Cut::new("auto", pool, keep, reason).with("background", source).with("best", pool.mirrored(best));
        }
        if best <= mean && measured.is_some() {
            return Cut::new("auto", pool, 0, NOTHING_CLOSE)
                .with("background", source)
                .with("background_mean", pool.mirrored(mean))
                .with("best", pool.mirrored(best));
        }
        let listed = pool.normalized_above(mean);
        let relevance = pool.relevance().copied().unwrap_or_default().wanted(self.want);

        let depth = listed.len().min(DEEPEST);
        let scenarios = relevance.scenarios(&listed[..depth]);
        let needed = if self.target_recall > 0.0 { Needed::All } else { Needed::UpToBest };
        let mut probabilities = mixed(&scenarios);
        let table = expectations(&scenarios, &probabilities, 1.0 / self.strictness.clamp(0.1, 10.0), needed);
        let choice = self.chosen(pool, &table, &probabilities);
        if depth < listed.len() {
            probabilities.extend(relevance.probabilities(&listed).into_iter().skip(depth));
        }
        // A score on a scale that nothing measured says where the list breaks, not how likely anything is.
        if measured.is_none() {
            return by_list_alone(pool, choice);
        }
        let Choice { keep, reason, best_tokens, .. } = choice;
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
        if let Some(tokens) = best_tokens {
            cut = cut.with("best_tokens", tokens);
        }
        if let Some(&probability) = keep.checked_sub(1).and_then(|last| probabilities.get(last)) {
            cut = cut.with("probability_at_cut", probability).with("normalized_score_at_cut", listed[keep - 1]);
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

/// A number of candidates to keep.
struct Choice {
    keep: usize,
    reason: String,
    /// The aim that decided it.
    aim: Aim,
    /// Tokens of the best candidate, if it alone exceeds the budget.
    best_tokens: Option<usize>,
}

impl Auto {
    /// Decides by probabilities that the caller gave.
    fn by_probabilities(&self, pool: &Pool, probabilities: &[f64]) -> Cut {
        // A recall is wanted whatever each candidate's chance.
        let passing = if self.target_recall > 0.0 { pool.possible() } else { pool.passing() }.min(DEEPEST);
        let scenario = [relevance::scenario(&probabilities[..probabilities.len().min(DEEPEST)])];
        let beta = self.want.beta() / self.strictness.clamp(0.1, 10.0);
        let table = expectations(&scenario, &scenario[0].probabilities, beta, Needed::All);
        let Choice { keep, reason, best_tokens, .. } = self.chosen(pool, &table[..=passing], probabilities);
        let mut cut = Cut::new("auto", pool, keep, reason)
            .with("beta", beta)
            .with("expected_f", table[keep].f)
            .with("expected_precision", table[keep].precision)
            .with("expected_recall", table[keep].recall);
        if let Some(tokens) = best_tokens {
            cut = cut.with("best_tokens", tokens);
        }
        if let Some(&next) = probabilities.get(keep) {
            cut = cut.with("next_probability", next);
        }
        cut.probabilities = probabilities.to_vec();
        cut
    }

    /// Chooses a number of candidates from the expectations of each.
    fn chosen(&self, pool: &Pool, table: &[Expectation], probabilities: &[f64]) -> Choice {
        let within = self.affordable(pool, table.len() - 1);
        let (keep, aim) = match pool.gated().filter(|_| self.has_no_aim()) {
            Some(passing) => (passing.min(within), Aim::Level),
            None => self.choose(table, within, pool.probabilities().is_some()),
        };
        let best_tokens = self.unaffordable(pool, table, within);
        let reason = match &best_tokens {
            Some(tokens) => {
                format!("the best match has {tokens} tokens and the budget is {}; raise the budget", self.budget_tokens)
            }
            None => explain(keep, probabilities, aim),
        };
        Choice { keep, reason, aim, best_tokens }
    }

    /// Returns `true` where nothing is said of what is wanted. Then whatever is likely enough is kept, wherever the best F lies: one level
    /// that holds for every list.
    fn has_no_aim(&self) -> bool {
        let Auto { want, strictness, target_recall, min_precision, budget_tokens } = *self;
        want == Want::Auto && strictness == 1.0 && target_recall == 0.0 && min_precision == 0.0 && budget_tokens == 0
    }

    /// The number of candidates to keep, and the aim that decided it.
    /// `gated`: what passes was decided before, so keeping nothing is no choice any more where something does.
    fn choose(&self, table: &[Expectation], within: usize, gated: bool) -> (usize, Aim) {
        let precise = |kept: &usize| self.min_precision == 0.0 || table[*kept].precision >= self.min_precision;
        // Precision never rises with more candidates, so the first that is too low ends it.
        let most = (0..=within).take_while(precise).last().unwrap_or(0);
        // If most likely nothing is relevant, no recall can be reached, and keeping nothing stays a choice.
        if self.target_recall > 0.0 && (gated || table[0].f < 0.5) {
            let enough = (0..=most).find(|&kept| table[kept].recall >= self.target_recall);
            return match enough {
                Some(kept) => (kept, Aim::Recall(self.target_recall)),
                None => (most, Aim::RecallMissed(self.target_recall)),
            };
        }
        let least = if gated { most.min(1) } else { 0 };
        let best = (least..=most).fold(least, |best, kept| if table[kept].f > table[best].f { kept } else { best });
        let aim = match (most < within, within + 1 < table.len() && best == within) {
            (true, _) => Aim::Precision(self.min_precision),
            (_, true) => Aim::Budget(self.budget_tokens),
            _ => Aim::BestF,
        };
        (best, aim)
    }
}

/// The cut of a list without a background: where it falls, and how clear the step is.
fn by_list_alone(pool: &Pool, choice: Choice) -> Cut {
    let Choice { keep, reason, aim, best_tokens } = choice;
    let step = Step::new(pool, keep);
    let reason = match &step {
        Some(step) if aim == Aim::BestF && best_tokens.is_none() => step.sentence(pool),
        _ => reason,
    };
    let mut cut = Cut::new("auto", pool, keep, reason + BY_LIST_ALONE)
        .with("background", "estimated")
        .with("best", pool.values()[0]);
    if let Some(tokens) = best_tokens {
        cut = cut.with("best_tokens", tokens);
    }
    if let Some(Step { last, next, times }) = step {
        cut = cut.with("last_kept", last).with("first_dropped", next);
        if let Some(times) = times {
            cut = cut.with("step", times);
        }
    }
    cut
}

// The reason of an `auto` cut, in words that need no statistics.

/// The aim that decided the number of candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// All that are likely enough.
    Level,
    /// The best expected F.
    BestF,
    /// The best expected F with at least this precision.
    Precision(f64),
    /// The best expected F within so many tokens.
    Budget(usize),
    /// The fewest candidates with this expected recall.
    Recall(f64),
    /// This expected recall, out of reach.
    RecallMissed(f64),
}

/// A candidate with less than this share of the last kept one's probability is much less likely, one with less than the other
/// share less likely.
const MUCH_LESS: f64 = 0.5;
const LESS: f64 = 0.9;

/// What ended the list after the first `keep`. The probabilities themselves are the caller's to show.
pub fn explain(keep: usize, probabilities: &[f64], aim: Aim) -> String {
    let Some((last, next)) = keep.checked_sub(1).map(|last| (probabilities.get(last), probabilities.get(keep))) else {
        return match aim {
            Aim::Precision(least) => format!("nothing is likely enough for a precision of {}", percent(least)),
            _ => NOTHING_CLOSE.to_string(),
        };
    };
    match (aim, last.zip(next)) {
        (Aim::Recall(target), _) => {
            format!("all {} probably include {} of what is relevant", grouped(keep), percent(target))
        }
        (Aim::RecallMissed(target), _) => {
            format!("even all {} may include less than {} of what is relevant", grouped(keep), percent(target))
        }
        (_, None) => "nothing else was found".to_string(),
        (Aim::Budget(tokens), _) => format!("more would exceed the budget of {} tokens", grouped(tokens)),
        (Aim::Precision(least), _) => format!("more would fall below a precision of {}", percent(least)),
        (Aim::BestF | Aim::Level, Some((last, next))) => match next / last {
            share if share < MUCH_LESS => "the next is much less likely",
            share if share < LESS => "the next is less likely",
            _ => "the next is no more likely, and adding more would lower precision",
        }
        .to_string(),
    }
}
