//! Learning a model of relevance from judged queries, with the unjudged model as the prior.

use super::expectation::expectations;
use super::relevance::{Basis, Relevance};

/// One judged query: its candidates' normalized scores, best first, and their judgements.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedPool {
    /// Normalized scores ([`Pool::normalized_scores`](crate::Pool::normalized_scores)).
    pub normalized_scores: Vec<f64>,
    /// The judgement of each candidate; `None` where nobody judged it.
    pub relevant: Vec<Option<bool>>,
    /// How much it counts, above 0: 1 for a query that somebody judged, less for weaker evidence.
    pub weight: f64,
}

impl Default for JudgedPool {
    fn default() -> Self {
        JudgedPool { normalized_scores: Vec::new(), relevant: Vec::new(), weight: 1.0 }
    }
}

/// Candidates of a query that the fit reads.
const DEEPEST: usize = 60;

/// Standard deviation of the prior: the distance of a collection's level from the level of the unjudged model.
const LEVEL_DEVIATION: f64 = 0.08;

/// Standard deviation of the logarithm of the spread.
const SPREAD_DEVIATION: f64 = 0.3;

/// Weight of one judged query's F1 against the prior.
const LEARNING_RATE: f64 = 3.0;

/// Factors on the spread that the grid tries.
const SPREADS: [f64; 3] = [0.5, 1.0, 1.6];

impl Relevance {
    /// The model that serves the judged queries best, drawn towards this one while they are few.
    ///
    /// Every level and spread of a grid cuts every judged query. Its weight combines the F1 it reaches with this model as the
    /// prior (normal in the level and in the logarithm of the spread): the posterior is prior · exp(rate · Σ F1), and level
    /// and spread are its means. Such a posterior by the worth of decisions (Bissiri, Holmes and Walker, "A general framework
    /// for updating belief distributions", JRSS B 2016) holds even where relevance does not follow the step of [`Relevance`].
    /// A likelihood does not: it was tried first, and got worse the more queries were judged.
    ///
    /// Unjudged candidates do not count. Without judgements the model stays as it is. O(judged queries), about a tenth of a
    /// millisecond for each of them and each point of the grid.
    pub fn fit(&self, judged: &[JudgedPool]) -> Relevance {
        let judged: Vec<Observed> = judged.iter().filter_map(Observed::of).collect();
        if judged.is_empty() {
            return *self;
        }
        let levels: Vec<f64> = (0..=17).map(|step| 0.3 + 0.04 * f64::from(step)).collect();
        let mut posterior = Vec::with_capacity(levels.len() * SPREADS.len());
        for &level in &levels {
            for factor in SPREADS {
                let relevance = Relevance { level, spread: self.spread * factor, ..*self };
                let worth: f64 = judged.iter().map(|pool| pool.weight * pool.f1(&relevance)).sum();
                let off = ((level - self.level) / LEVEL_DEVIATION).powi(2) + (factor.ln() / SPREAD_DEVIATION).powi(2);
                posterior.push((LEARNING_RATE * worth - 0.5 * off, relevance));
            }
        }
        let highest = posterior.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
        let weigh = |of: fn(&Relevance) -> f64| {
            let (sum, total) = posterior.iter().fold((0.0, 0.0), |(sum, total), (log, relevance)| {
                let weight = (log - highest).exp();
                (sum + weight * of(relevance), total + weight)
            });
            sum / total
        };
        let (level, spread) = (weigh(|relevance| relevance.level), weigh(|relevance| relevance.spread));
        Relevance { level, spread, basis: Basis::Judged(judged.len()), ..*self }
    }
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
        let weight = if pool.weight.is_finite() { pool.weight.max(0.0) } else { 0.0 };
        relevant.contains(&Some(true)).then_some(Observed { scores, relevant, weight })
    }

    /// F1, among the judged candidates, of the cut under `relevance`.
    fn f1(&self, relevance: &Relevance) -> f64 {
        let table = expectations(&relevance.scenarios(&self.scores), 1.0);
        let keep = (0..table.len()).fold(0, |best, kept| if table[kept].f > table[best].f { kept } else { best });
        let count = |relevant: &[Option<bool>]| relevant.iter().filter(|&&relevant| relevant == Some(true)).count();
        let kept = &self.relevant[..keep];
        let judged = kept.iter().flatten().count();
        2.0 * count(kept) as f64 / (judged + count(&self.relevant)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(scores: &[f64], relevant: &[bool]) -> JudgedPool {
        let relevant = relevant.iter().map(|&relevant| Some(relevant)).collect();
        JudgedPool { normalized_scores: scores.to_vec(), relevant, weight: 1.0 }
    }

    #[test]
    fn without_judgements_nothing_changes() {
        let prior = Relevance::default();
        assert_eq!(prior.fit(&[]), prior);
        assert_eq!(prior.fit(&[JudgedPool { normalized_scores: vec![1.0], relevant: vec![None], weight: 1.0 }]), prior);
    }

    #[test]
    fn the_level_moves_to_where_the_judgements_put_it_and_further_with_more_of_them() {
        let scores = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];
        let lax = pool(&scores, &[true, true, true, true, true, true, false, false]);
        let strict = pool(&scores, &[true, false, false, false, false, false, false, false]);
        let prior = Relevance::default();
        let level = |judged: &JudgedPool, queries: usize| prior.fit(&vec![judged.clone(); queries]).level;
        assert!(level(&lax, 20) < 0.56 && level(&strict, 20) > 0.88, "{} {}", level(&lax, 20), level(&strict, 20));
        let (one, many) = (prior.fit(std::slice::from_ref(&lax)), prior.fit(&vec![lax.clone(); 20]));
        assert!(one.level < prior.level && many.level < prior.level, "{one:?} {many:?}");
        assert!(many.level < one.level, "{one:?} {many:?}");
        assert!(matches!(prior.fit(&[lax]).basis, Basis::Judged(1)));
    }

    #[test]
    fn weak_evidence_moves_the_level_less_and_none_moves_nothing() {
        let strict = pool(&[1.0, 0.9, 0.8, 0.7, 0.6], &[true, false, false, false, false]);
        let prior = Relevance::default();
        let level = |weight: f64| prior.fit(&vec![JudgedPool { weight, ..strict.clone() }; 10]).level;
        assert!(prior.level < level(0.3) && level(0.3) < level(1.0), "{} {}", level(0.3), level(1.0));
        assert!((level(0.0) - level(f64::NAN)).abs() < 1e-12 && level(0.0) < level(0.3));
    }

    #[test]
    fn one_odd_judgement_does_not_outweigh_the_others() {
        let scores = [1.0, 0.9, 0.8, 0.3, 0.2, 0.1];
        let mut judged = vec![pool(&scores, &[true, false, false, false, false, false]); 10];
        judged.push(pool(&scores, &[false, false, false, false, false, true]));
        assert!(Relevance::default().fit(&judged).level > 0.85);
    }
}
