//! Turns the entries of a list into a cut's input: one value each, best first, the background on their scale, and the gate's
//! evidence.

use std::borrow::Cow;

use tamis_cut::{Admission, Admitted, Background, Evidence, Orientation, Pool, PoolError, RawScores, Rule, Scale};
use tamis_rank as rank;
use tamis_rank::{BackgroundEvidence, Fusion};

use super::{FEWEST_FOR_DEVIATION, ListEntry, ListError, Reading, Reference, Standing, sample_background};

/// Entries, as every function here takes them.
type Entries<'a> = [&'a ListEntry];

/// The entries as candidates.
#[derive(Debug)]
pub struct Candidates {
    /// Their values, best first.
    pub pool: Pool,
    /// The entry at each rank, where that is not the one at the same place. Entries are ordered by value; where the rule judges each
    /// entry by its raw scores, the admitted ones come first.
    pub order: Option<Vec<usize>>,
    /// The value of the entry at each rank, where that is not the pool's.
    pub ranked: Option<Vec<f64>>,
    /// The gate's evidence.
    pub evidence: Evidence,
    /// The standing of the best score in a sample, which is the gate's evidence for scores on a scale of their own.
    pub standing: Option<Standing>,
    /// A description of the values for people.
    pub values: Cow<'static, str>,
}

impl Candidates {
    /// Ranks the entries on the rule's scale, and puts the background on the same scale.
    ///
    /// # Errors
    /// Some entries have a score and some do not, scores are not best first, the sample lacks a field of the entries, or the rule needs
    /// a similarity and there is none.
    pub fn new(
        entries: &Entries<'_>,
        reference: &Reference<'_>,
        rule: &dyn Rule,
        reading: Reading,
    ) -> Result<Self, ListError> {
        let evidence = evidence(entries, reference);
        if has_score(entries)? {
            let tokens: Option<Vec<usize>> = entries.iter().map(|entry| entry.tokens).collect();
            let measured = match reference {
                Reference::Sample(sample) => Reference::Scores(scores_of(sample)?),
                reference => *reference,
            };
            let scores = entries.iter().filter_map(|entry| entry.score);
            let scored = Candidates::of_scores(scores, tokens.as_deref(), &measured, reading)?;
            return Ok(Candidates { evidence, ..scored });
        }
        let fusion = fusion(rule, reading.weight);
        let (values, order, described) = fused(entries, rule, fusion)?;
        let mut pool =
            Pool::scores(order.iter().map(|&at| values[at])).map_err(|error| unsorted(error, |at| order[at]))?;
        let tokens: Option<Vec<usize>> = order.iter().map(|&at| entries[at].tokens).collect();
        if let Some(tokens) = tokens {
            pool = pool.with_sizes(tokens);
        }
        let background = match reference {
            Reference::None => None,
            Reference::Mean(mean) => Some(Background { mean: *mean, deviation: 0.0, count: 0 }),
            Reference::Sample(sample) => Some(fused_background(entries, sample, rule.scale(), fusion)?),
            Reference::Scores(_) => {
                let reason = "it has scores, and the input has a similarity or bm25; give a sample with the same";
                return Err(ListError::Sample(reason.to_owned()));
            }
        };
        if let Some(background) = background {
            pool = pool.with_background(background)?;
        }
        let mut order: Vec<usize> =
            (0..pool.len()).filter_map(|rank| pool.position(rank)).map(|at| order[at]).collect();
        if let Some(admissions) = admissions(entries, rule) {
            order.sort_by_key(|&at| admissions[at] == Admission::Refused);
            pool = pool.with_admitted(admissions.into_iter().collect::<Admitted>());
        }
        let ranked = Some(order.iter().map(|&at| values[at]).collect());
        Ok(Candidates { pool, order: Some(order), ranked, evidence, standing: None, values: described.into() })
    }

    /// Ranks scores, in input order or best first.
    ///
    /// # Errors
    /// Scores that are not best first, or a background that is not finite.
    pub fn of_scores(
        scores: impl IntoIterator<Item = f64>,
        tokens: Option<&[usize]>,
        reference: &Reference<'_>,
        reading: Reading,
    ) -> Result<Self, ListError> {
        let (pool, given) = match reading.sort {
            false => (Pool::new(scores, reading.orientation), None),
            true => {
                let scores: Vec<f64> = scores.into_iter().collect();
                let order = best_first(&scores, reading.orientation);
                (Pool::new(order.iter().map(|&at| scores[at]), reading.orientation), Some(order))
            }
        };
        let given = given.as_deref();
        let place = |position: usize| given.map_or(position, |order| order[position]);
        let mut pool = pool.map_err(|error| unsorted(error, place))?;
        if let Some(tokens) = tokens {
            pool = pool.with_sizes((0..tokens.len()).map(|position| tokens[place(position)]).collect());
        }
        let background = match reference {
            Reference::None => None,
            Reference::Mean(mean) => Some(Background { mean: *mean, deviation: 0.0, count: 0 }),
            Reference::Scores(background) => Some(*background),
            Reference::Sample(sample) => Some(scores_of(sample)?),
        };
        let mut standing = None;
        if let Some(background) = background {
            pool = pool.with_background(background)?;
            standing = Standing::new(&pool, &background);
        }
        let in_place = given.is_none() && pool.dropped_non_finite() == 0;
        let places = || (0..pool.len()).filter_map(|rank| pool.position(rank)).map(place).collect();
        let order = (!in_place).then(places);
        let values = "the score of each line".into();
        Ok(Candidates { pool, order, ranked: None, evidence: Evidence::default(), standing, values })
    }
}

/// True if all entries have scores; either all or none must.
fn has_score(entries: &Entries<'_>) -> Result<bool, ListError> {
    let with = entries.iter().position(|entry| entry.score.is_some());
    let without = entries.iter().position(|entry| entry.score.is_none());
    match (with, without) {
        (Some(with), Some(without)) => Err(ListError::Mixed { without, with }),
        (_, without) => Ok(without.is_none()),
    }
}

/// The positions of scores, best first.
fn best_first(scores: &[f64], orientation: Orientation) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| match orientation {
        Orientation::Score => scores[b].total_cmp(&scores[a]),
        Orientation::Distance => scores[a].total_cmp(&scores[b]),
    });
    order
}

/// The fusion of both retrievers' scores on the rule's scale, as in a search.
fn fusion(rule: &dyn Rule, weight: f64) -> Fusion {
    match rule.scale() {
        Scale::Score => Fusion::Convex { weight },
        Scale::Similarity => Fusion::Weighted { weight: 1.0 },
        Scale::Weighted => Fusion::Weighted { weight: 0.7 },
    }
}

/// Both retrievers' scores fused, best first.
fn fused(entries: &Entries<'_>, rule: &dyn Rule, fusion: Fusion) -> Result<(Vec<f64>, Vec<usize>, String), ListError> {
    let scale = rule.scale();
    let candidates = raw_scores(entries, scale);
    let values = fusion.fuse(&candidates);
    let order = rank::order(&values);
    let described = match (candidates.first(), fusion) {
        (Some(rank::Evidence { similarity: None, .. }), _) if scale == Scale::Similarity => {
            return Err(ListError::NoSimilarity { method: rule.name().to_owned() });
        }
        (Some(rank::Evidence { similarity: Some(_), bm25: Some(_) }), Fusion::Convex { weight }) => {
            format!("similarity and bm25, fused with {weight} of the similarity")
        }
        (Some(rank::Evidence { similarity: Some(_), bm25: Some(_) }), Fusion::Weighted { weight }) if weight < 1.0 => {
            format!("{weight} times the similarity, and the rest bm25 / (1 + bm25)")
        }
        (Some(rank::Evidence { similarity: Some(_), .. }), _) => "similarity alone".to_owned(),
        _ => "bm25 alone".to_owned(),
    };
    Ok((values, order, described))
}

/// The verdict on each entry of a rule that judges candidates by their raw scores; `None` for a rule that reads the list.
fn admissions(entries: &Entries<'_>, rule: &dyn Rule) -> Option<Vec<Admission>> {
    let admission = |entry: &&ListEntry| {
        let ListEntry { similarity, coverage, .. } = **entry;
        rule.admits(&RawScores { similarity, coverage, threshold: None })
    };
    entries.iter().map(admission).collect()
}

/// The raw scores of each entry. If a retriever scored any entry, every entry gets a score of it. A passage that the words did not find
/// has a bm25 of 0. One that the vectors did not find has a similarity of 0 on the weighted scale, where values are absolute;
/// otherwise it has that of the least similar one found.
fn raw_scores(entries: &Entries<'_>, scale: Scale) -> Vec<rank::Evidence> {
    let lowest =
        |score: fn(&ListEntry) -> Option<f64>| entries.iter().filter_map(|entry| score(entry)).reduce(f64::min);
    let similarity = lowest(|values| values.similarity);
    let similarity = if scale == Scale::Weighted { similarity.map(|_| 0.0) } else { similarity };
    let bm25 = lowest(|values| values.bm25).map(|_| 0.0);
    let of =
        |entry: &&ListEntry| rank::Evidence { similarity: entry.similarity.or(similarity), bm25: entry.bm25.or(bm25) };
    entries.iter().map(of).collect()
}

fn unsorted(error: PoolError, place: impl Fn(usize) -> usize) -> ListError {
    match error {
        PoolError::Unsorted { position, value, previous, orientation } => {
            ListError::Unsorted { position: place(position), value, previous, orientation }
        }
        error => error.into(),
    }
}

fn scores_of(sample: &Entries<'_>) -> Result<Background, ListError> {
    let scores = sample.iter().filter_map(|entry| entry.score);
    match sample_background(scores) {
        Some(background) if background.count == sample.len() => Ok(background),
        _ => {
            let reason = "every line needs a score, like the input, and there must be at least one line";
            Err(ListError::Sample(reason.to_owned()))
        }
    }
}

/// The mean of each retriever over the sample, fused like the candidates' scores.
fn fused_background(
    entries: &Entries<'_>,
    sample: &Entries<'_>,
    scale: Scale,
    fusion: Fusion,
) -> Result<Background, ListError> {
    let candidates = raw_scores(entries, scale);
    let ran = |score: fn(&rank::Evidence) -> Option<f64>| candidates.iter().any(|candidate| score(candidate).is_some());
    let of = |name: &str, ran: bool, background: Option<Background>| match (ran, background) {
        (true, None) => Err(ListError::Sample(format!("no line has a {name}, which the input has"))),
        (true, background) => Ok(background.map(|background| background.mean)),
        (false, _) => Ok(None),
    };
    let means = BackgroundEvidence {
        similarity: of("similarity", ran(|candidate| candidate.similarity), similarities(sample))?,
        bm25: of("bm25", ran(|candidate| candidate.bm25), weights(sample))?,
    };
    let mean = fusion.background(&candidates, means).unwrap_or_default();
    Ok(Background { mean, deviation: 0.0, count: sample.len() })
}

fn similarities(sample: &Entries<'_>) -> Option<Background> {
    sample_background(sample.iter().filter_map(|entry| entry.similarity))
}

/// The bm25 over all passages of the sample; those without one match no word.
fn weights(sample: &Entries<'_>) -> Option<Background> {
    sample.iter().any(|entry| entry.bm25.is_some()).then_some(())?;
    sample_background(sample.iter().map(|entry| entry.bm25.unwrap_or(0.0)))
}

/// Absolute evidence: the best coverage if entries have one, and the best similarity against a sample that is large
/// enough.
fn evidence(entries: &Entries<'_>, reference: &Reference<'_>) -> Evidence {
    let best = |score: fn(&ListEntry) -> Option<f64>| entries.iter().filter_map(|entry| score(entry)).reduce(f64::max);
    let background = match reference {
        Reference::Sample(sample) => similarities(sample),
        Reference::None | Reference::Mean(_) | Reference::Scores(_) => None,
    };
    Evidence {
        coverage: best(|values| values.coverage),
        best_similarity: best(|values| values.similarity),
        background: background.filter(|background| background.count >= FEWEST_FOR_DEVIATION),
        ..Evidence::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_cut::{Auto, LanguageThreshold, MaxGap, TopScore};

    const CONVEX: Fusion = Fusion::Convex { weight: 0.3 };
    const READING: Reading = Reading { orientation: Orientation::Score, sort: false, weight: 0.5 };

    /// Entries from a header and lines of numbers, for as long as the tests run; an empty field is left out.
    fn list(text: &str) -> Vec<&'static ListEntry> {
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
        let entry = |line: &str| {
            let value = |name| {
                let at = names.iter().position(|known| *known == name)?;
                line.split(',').nth(at).and_then(|field| field.parse().ok())
            };
            let (similarity, bm25) = (value("similarity"), value("bm25"));
            &*Box::leak(Box::new(ListEntry { score: value("score"), similarity, bm25, ..ListEntry::default() }))
        };
        lines.map(entry).collect()
    }

    #[test]
    fn rows_are_fused_where_a_retriever_is_missing() {
        let rows = list("similarity,bm25\n0.2,\n0.6,1\n,4\n");
        let candidates = raw_scores(&rows, Scale::Score);
        assert_eq!((candidates[0].bm25, candidates[2].similarity), (Some(0.0), Some(0.2)));
        let candidates = Candidates::new(&rows, &Reference::None, &Auto::default(), READING).expect("ranked");
        // 0.5 · 1 + 0.5 · 0.25 for the second, 0.5 · 0.75 + 0.5 for the third, 0.5 · 0.75 for the first.
        assert_eq!(candidates.order.as_deref(), Some(&[2, 1, 0][..]));
        let expected = [0.875, 0.625, 0.375];
        let values = candidates.pool.values().iter();
        assert!(values.zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-12), "{candidates:?}");

        let rows = list("bm25\n4\n8\n2\n");
        let candidates = Candidates::new(&rows, &Reference::None, &Auto::default(), READING).expect("ranked");
        assert_eq!(candidates.pool.values(), [1.0, 0.5, 0.25]);
        assert_eq!(candidates.values, "bm25 alone");

        let rows = list("score,similarity\n1,\n,0.3\n");
        let error = Candidates::new(&rows, &Reference::None, &Auto::default(), READING).unwrap_err();
        assert_eq!(error, ListError::Mixed { without: 1, with: 0 });
    }

    #[test]
    fn each_rule_reads_its_own_scale() {
        let rows = list("similarity,bm25\n0.9,\n0.6,1\n,99\n");
        let read = |rule: &dyn Rule| Candidates::new(&rows, &Reference::None, rule, READING).expect("ranked");
        let near = |values: &[f64], expected: &[f64]| {
            assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{values:?} is not {expected:?}");
        };
        // A row that only the words found has at most 0.30.
        let weighted = read(&TopScore::default());
        assert_eq!(weighted.order.as_deref(), Some(&[0, 1, 2][..]));
        near(weighted.pool.values(), &[0.63, 0.42 + 0.3 * 0.5, 0.3 * 0.99]);
        near(read(&MaxGap::default()).pool.values(), &[0.9, 0.6, 0.6]);
        // The threshold applies to raw similarities, not to fused scores.
        let admitted = read(&LanguageThreshold::default());
        assert_eq!(admitted.order.map(|order| order[0]), Some(0));
        assert_eq!(admitted.pool.admitted().map(|admitted| admitted.total()), Some(1));
        let best = admitted.ranked.expect("another order")[0];
        assert_eq!(best, admitted.pool.values()[1], "the best by the fused value is not admitted");
        let words = list("bm25\n4\n");
        let error = Candidates::new(&words, &Reference::None, &MaxGap::default(), READING).unwrap_err();
        assert_eq!(error, ListError::NoSimilarity { method: "max_gap".into() });
    }

    #[test]
    fn a_sample_gives_the_background_of_each_retriever_or_of_scores() {
        let rows = list("similarity,bm25\n0.6,4\n0.2,10\n");
        let sample = list("similarity,bm25\n0.1,8\n0.3,\n");
        let background = fused_background(&rows, &sample, Scale::Score, CONVEX).expect("both retrievers");
        assert!((background.mean - (0.3 * 0.75 + 0.7 * 0.4)).abs() < 1e-12, "{background:?}");
        let error = fused_background(&rows, &sample[..1], Scale::Score, CONVEX).err();
        assert_eq!(error, None, "the first has both");
        let one = list("similarity\n0.1\n");
        let error = fused_background(&rows, &[one[0]], Scale::Score, CONVEX).unwrap_err().to_string();
        assert_eq!(error, "background_sample: no line has a bm25, which the input has");

        let sample = list("score\n0.1\n0.3\n");
        let background = scores_of(&sample).expect("scores");
        assert!((background.mean - 0.2).abs() < 1e-12 && (background.deviation - 0.1).abs() < 1e-12);
        assert!(scores_of(&[]).is_err());
        assert!(scores_of(&[&ListEntry { similarity: Some(0.3), ..Default::default() }]).is_err());

        let rows = list("similarity\n0.6\n");
        let sample = list(&format!("similarity\n{}", "0.1\n0.2\n".repeat(10)));
        assert!(evidence(&rows, &Reference::Sample(&sample[..18])).background.is_none());
        assert!(evidence(&rows, &Reference::Sample(&sample)).background.is_some());
        assert!(evidence(&rows, &Reference::Mean(0.1)).background.is_none());
    }
}
