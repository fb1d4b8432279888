//! Learning a model of relevance from judged queries, with the unjudged model as the prior.

use super::expectation::Scenario;
use super::relevance::{Basis, Relevance};

/// One judged query: its candidates' normalized scores, best first, and their judgements.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedPool {
    /// Normalized scores ([`Pool::normalized_scores`](crate::Pool::normalized_scores)).
    pub normalized_scores: Vec<f64>,
    /// The judgement of each candidate; `None` where nobody judged it.
    pub relevant: Vec<Option<bool>>,
    /// The trust in these judgements, 0 to 1: 1 where somebody said them.
    pub weight: f64,
}

impl Default for JudgedPool {
    fn default() -> Self {
        JudgedPool { normalized_scores: Vec::new(), relevant: Vec::new(), weight: 1.0 }
    }
}

/// Candidates of a query that the fit reads.
const DEEPEST: usize = 60;

/// Standard deviation of the prior: the distance of a collection's level from the built-in one.
const LEVEL_DEVIATION: f64 = 0.2;

/// Standard deviation of the logarithm of the spread.
const SPREAD_DEVIATION: f64 = 0.6;

/// Weight of one judged query's F1 against the prior.
const LEARNING_RATE: f64 = 4.0;

/// The levels and spreads that the grid tries.
const LEVELS: usize = 18;
const FIRST_LEVEL: f64 = 0.3;
const LEVEL_STEP: f64 = 0.04;
const SPREADS: [f64; 4] = [0.06, 0.12, 0.2, 0.3];

/// Gains on the judged queries below so many standard errors move nothing, and above so many move everything.
const DOUBTED: f64 = 0.75;
const TRUSTED: f64 = 1.75;

/// The standard deviation of a gain, and the number of queries that it counts as: few queries that happen to agree show
/// little.
const GAIN_DEVIATION: f64 = 0.3;
const GAIN_QUERIES: f64 = 2.0;

impl Relevance {
    /// The model that serves the judged queries best, drawn towards this one while they are few.
    ///
    /// Every level and spread of a grid cuts every judged query. Its weight combines the F1 it reaches with this model as the
    /// prior (normal in the level and in the logarithm of the spread): the posterior is prior · exp(rate · Σ F1), and level
    /// and spread are its means. Such a posterior by the worth of decisions (Bissiri, Holmes and Walker, "A general framework
    /// for updating belief distributions", JRSS B 2016) holds even where relevance does not follow the step of [`Relevance`].
    /// A likelihood does not: it was tried first, and got worse the more queries were judged.
    ///
    /// The model moves only as far as it is shown to help: each judged query is cut by what the others teach, and the mean
    /// gain over this model, in standard errors, says how far.
    ///
    /// Unjudged candidates do not count. Without judgements the model stays as it is. O(judged queries), about a
    /// tenth of a millisecond for each (`benches/auto.rs`).
    #[must_use]
    pub fn fit(&self, judged: &[JudgedPool]) -> Relevance {
        let observed: Vec<Observed> = judged.iter().filter_map(Observed::of).collect();
        if observed.is_empty() {
            return *self;
        }
        let tables: Vec<Vec<f64>> = observed.iter().map(|pool| pool.table(self)).collect();
        let mut worth = self.prior();
        for (pool, table) in observed.iter().zip(&tables) {
            worth.iter_mut().zip(table).for_each(|(worth, f1)| *worth += LEARNING_RATE * pool.weight * f1);
        }
        let (level, spread) = means(&worth);
        let gains: Vec<(f64, f64)> = observed
            .iter()
            .zip(&tables)
            .map(|(pool, table)| {
                let others = worth.iter().zip(table).map(|(worth, f1)| worth - LEARNING_RATE * pool.weight * f1);
                let (level, spread) = means(&others.collect::<Vec<f64>>());
                let learnt = Relevance { level, spread, ..*self };
                (pool.weight, pool.f1(&learnt) - pool.f1(self))
            })
            .collect();
        let trust = trust(&gains);
        Relevance {
            level: self.level + trust * (level - self.level),
            spread: (self.spread.ln() + trust * (spread / self.spread).ln()).exp(),
            basis: Basis::Labelled(observed.len()),
            ..*self
        }
    }

    /// The logarithm of the prior of each point of the grid.
    fn prior(&self) -> Vec<f64> {
        let off = |(level, spread): (f64, f64)| {
            ((level - self.level) / LEVEL_DEVIATION).powi(2) + ((spread / self.spread).ln() / SPREAD_DEVIATION).powi(2)
        };
        grid().map(|point| -0.5 * off(point)).collect()
    }
}

/// Levels and spreads that are tried.
fn grid() -> impl Iterator<Item = (f64, f64)> {
    let levels = (0..LEVELS).map(|step| FIRST_LEVEL + LEVEL_STEP * step as f64);
    levels.flat_map(|level| SPREADS.map(|spread| (level, spread)))
}

/// The mean level and the mean spread, geometric, under the logarithms of these weights.
fn means(logs: &[f64]) -> (f64, f64) {
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut level_sum, mut spread_sum, mut total) = (0.0, 0.0, 0.0);
    for (log, (level, spread)) in logs.iter().zip(grid()) {
        let weight = (log - highest).exp();
        level_sum += weight * level;
        spread_sum += weight * spread.ln();
        total += weight;
    }
    (level_sum / total, (spread_sum / total).exp())
}

/// The share of the way to what was learnt that these gains justify, each with its weight.
fn trust(gains: &[(f64, f64)]) -> f64 {
    let count: f64 = gains.iter().map(|(weight, _)| weight).sum();
    if count <= 0.0 {
        return 0.0;
    }
    let mean = gains.iter().map(|(weight, gain)| weight * gain).sum::<f64>() / count;
    let squares: f64 = gains.iter().map(|(weight, gain)| weight * (gain - mean).powi(2)).sum();
    let variance = (squares + GAIN_QUERIES * GAIN_DEVIATION * GAIN_DEVIATION) / (count + GAIN_QUERIES);
    let errors = mean / (variance / count).sqrt();
    ((errors - DOUBTED) / (TRUSTED - DOUBTED)).clamp(0.0, 1.0)
}

/// The part of a judged query that the fit reads.
struct Observed {
    scores: Vec<f64>,
    relevant: Vec<Option<bool>>,
    weight: f64,
}

impl Observed {
    /// `None` where none of the part is judged relevant, since every cut is alike there.
    fn of(pool: &JudgedPool) -> Option<Self> {
        let depth = pool.normalized_scores.len().min(pool.relevant.len()).min(DEEPEST);
        let finite = pool.normalized_scores[..depth].iter().copied().take_while(|score| score.is_finite());
        let scores: Vec<f64> = finite.collect();
        let relevant = pool.relevant[..scores.len()].to_vec();
        let weight = if pool.weight.is_finite() { pool.weight.clamp(0.0, 1.0) } else { 0.0 };
        (weight > 0.0 && relevant.contains(&Some(true))).then_some(Observed { scores, relevant, weight })
    }

    /// F1 at each point of the grid.
    fn table(&self, relevance: &Relevance) -> Vec<f64> {
        grid().map(|(level, spread)| self.f1(&Relevance { level, spread, ..*relevance })).collect()
    }

    /// F1, among the judged candidates, of the cut under `relevance`.
    fn f1(&self, relevance: &Relevance) -> f64 {
        let keep = best_kept(&relevance.scenarios(&self.scores));
        let count = |relevant: &[Option<bool>]| relevant.iter().filter(|&&relevant| relevant == Some(true)).count();
        let kept = &self.relevant[..keep];
        let judged = kept.iter().flatten().count();
        2.0 * count(kept) as f64 / (judged + count(&self.relevant)) as f64
    }
}

/// The number of candidates with the best F1 of expected counts: 2 · E A / (k + E R), averaged over the scenarios. It is
/// close to the exact expectation and ten times as fast, which matters where thousands of cuts are tried.
fn best_kept(scenarios: &[Scenario]) -> usize {
    let count = scenarios.first().map_or(0, |scenario| scenario.probabilities.len());
    let mut f = vec![0.0; count];
    for Scenario { weight, probabilities, outside } in scenarios {
        let relevant: f64 = probabilities.iter().sum::<f64>() + outside;
        let mut found = 0.0;
        for (rank, (f, probability)) in f.iter_mut().zip(probabilities).enumerate() {
            found += probability;
            *f += weight * 2.0 * found / (rank as f64 + 1.0 + relevant);
        }
    }
    (0..count).fold(0, |best, at| if f[at] > f[best] { at } else { best }) + usize::from(count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(scores: &[f64], relevant: &[bool]) -> JudgedPool {
        let relevant = relevant.iter().map(|&relevant| Some(relevant)).collect();
        JudgedPool { normalized_scores: scores.to_vec(), relevant, ..JudgedPool::default() }
    }

    /// Eight passages, of which the first ones are relevant.
    fn first_of_eight(relevant: usize) -> JudgedPool {
        let relevant: Vec<bool> = (0..8).map(|rank| rank < relevant).collect();
        pool(&[1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3], &relevant)
    }

    #[test]
    fn without_judgements_nothing_changes() {
        let prior = Relevance::default();
        assert_eq!(prior.fit(&[]), prior);
        assert_eq!(
            prior.fit(&[JudgedPool { normalized_scores: vec![1.0], relevant: vec![None], ..JudgedPool::default() }]),
            prior
        );
    }

    #[test]
    fn the_level_moves_to_where_the_judgements_put_it_and_further_with_more_of_them() {
        let (lax, strict) = (first_of_eight(6), first_of_eight(1));
        let prior = Relevance::default();
        let level = |judged: &JudgedPool, queries: usize| prior.fit(&vec![judged.clone(); queries]).level;
        assert!(level(&lax, 20) < 0.56 && level(&strict, 20) > 0.88, "{} {}", level(&lax, 20), level(&strict, 20));
        let (one, five) = (prior.fit(std::slice::from_ref(&lax)), prior.fit(&vec![lax.clone(); 5]));
        assert!(five.level < prior.level && level(&lax, 20) < five.level, "{five:?}");
        assert_eq!((one.level, one.spread), (prior.level, prior.spread), "one query shows nothing");
        assert!(matches!(prior.fit(&[lax]).basis, Basis::Labelled(1)));
    }

    #[test]
    fn judgements_that_contradict_each_other_move_nothing() {
        let (lax, strict) = (first_of_eight(6), first_of_eight(1));
        let prior = Relevance::default();
        let fitted = prior.fit(&[lax.clone(), strict.clone(), lax, strict]);
        assert!((fitted.level - prior.level).abs() < 0.1, "{fitted:?}");
    }

    #[test]
    fn judgements_count_by_their_weight() {
        let lax = first_of_eight(6);
        let weighted = |weight| vec![JudgedPool { weight, ..lax.clone() }; 10];
        let prior = Relevance::default();
        let level = |weight| prior.fit(&weighted(weight)).level;
        assert!(level(1.0) < level(0.3) && level(0.3) < prior.level, "{} {}", level(1.0), level(0.3));
        assert_eq!(prior.fit(&weighted(0.0)), prior);
        assert_eq!(prior.fit(&weighted(f64::NAN)), prior);
    }

    #[test]
    fn one_odd_judgement_does_not_outweigh_the_others() {
        let scores = [1.0, 0.9, 0.8, 0.3, 0.2, 0.1];
        let mut judged = vec![pool(&scores, &[true, false, false, false, false, false]); 10];
        judged.push(pool(&scores, &[false, false, false, false, false, true]));
        assert!(Relevance::default().fit(&judged).level > 0.85);
    }
}
