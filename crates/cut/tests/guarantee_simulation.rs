//! Tests the promise of a guarantee over many draws. Judged queries and the next ones come from the same made-up source, and
//! the loss of the next ones is averaged over the draws. A fixed seed makes every run equal.

use tamis_cut::{CalibrationQuery, Guarantee, GuaranteeError, Pool};

/// SplitMix64 (Steele, Lea, Flood, 2014).
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.uniform() * limit as f64) as usize
    }
}

/// A source of queries.
type Source = fn(&mut Random) -> CalibrationQuery;

fn query(mut pool: Vec<(f64, bool)>, missed: usize) -> CalibrationQuery {
    pool.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (values, relevant) = pool.into_iter().unzip();
    CalibrationQuery { values, relevant, missed }
}

/// Values are probabilities; at least one candidate is relevant.
fn calibrated(random: &mut Random) -> CalibrationQuery {
    loop {
        let mut candidate = || {
            let value = random.uniform().powi(2);
            (value, random.chance(value))
        };
        let pool = [(); 8].map(|()| candidate());
        if pool.iter().any(|(_, relevant)| *relevant) {
            return query(pool.into(), 0);
        }
    }
}

/// Values carry no information.
fn uninformative(random: &mut Random) -> CalibrationQuery {
    let answer = random.below(6);
    query((0..6).map(|at| (random.uniform(), at == answer)).collect(), 0)
}

/// Three distinct values.
fn tied(random: &mut Random) -> CalibrationQuery {
    let answer = random.below(5);
    let value = |random: &mut Random| [0.1, 0.5, 0.9][random.below(3)];
    query((0..5).map(|at| (value(random), at == answer || random.chance(0.2))).collect(), 0)
}

/// Recall is 1 or, rarely, 0 at every threshold: the hardest case for a mean of few.
fn all_or_nothing(random: &mut Random) -> CalibrationQuery {
    let value = if random.chance(0.93) { 0.9 } else { 0.1 * random.uniform() };
    query(vec![(value, true), (value, true), (0.3, false)], 0)
}

/// Sometimes one of two relevant passages is outside the pool.
fn partly_missed(random: &mut Random) -> CalibrationQuery {
    let missed = usize::from(random.chance(0.08));
    query(vec![(random.uniform(), true), (random.uniform() * 0.5, false)], missed)
}

const SOURCES: [(&str, Source); 5] = [
    ("calibrated", calibrated),
    ("uninformative", uninformative),
    ("tied", tied),
    ("all or nothing", all_or_nothing),
    ("partly missed", partly_missed),
];

const DRAWS: usize = 1500;
const NEXT: usize = 5;

fn kept(query: &CalibrationQuery, guarantee: &tamis_cut::Calibrated) -> usize {
    let pool = Pool::scores(query.values.iter().copied()).expect("sorted");
    guarantee.cut(&pool, &query.values, "value").keep
}

fn recall_loss(query: &CalibrationQuery, keep: usize) -> f64 {
    let found = query.relevant[..keep].iter().filter(|&&relevant| relevant).count();
    1.0 - found as f64 / query.answers() as f64
}

fn precision_loss(query: &CalibrationQuery, keep: usize) -> f64 {
    let wrong = query.relevant[..keep].iter().filter(|&&relevant| !relevant).count();
    wrong as f64 / keep.max(1) as f64
}

/// Mean and standard error.
fn summary(losses: &[f64]) -> (f64, f64) {
    let count = losses.len() as f64;
    let mean = losses.iter().sum::<f64>() / count;
    let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// The mean loss of the next queries in each draw, and the number of draws in which calibration refused.
fn recall_losses(seed: u64, source: Source, judged: usize, guarantee: Guarantee) -> (Vec<f64>, usize) {
    let mut random = Random(seed);
    let mut refused = 0;
    let mut losses = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let queries: Vec<CalibrationQuery> = (0..judged).map(|_| source(&mut random)).collect();
        let next: Vec<CalibrationQuery> = (0..NEXT).map(|_| source(&mut random)).collect();
        match guarantee.calibrate(&queries) {
            Ok(given) => {
                let loss = next.iter().map(|query| recall_loss(query, kept(query, &given))).sum::<f64>();
                losses.push(loss / NEXT as f64);
            }
            Err(GuaranteeError::TooFew { .. } | GuaranteeError::Unreachable { .. }) => {
                refused += 1;
                losses.push(0.0);
            }
            Err(other) => panic!("{other}"),
        }
    }
    (losses, refused)
}

#[test]
fn expected_recall_is_what_was_promised() {
    for (at, (name, source)) in SOURCES.into_iter().enumerate() {
        for (judged, target) in [(5, 0.8), (12, 0.9), (20, 0.8), (50, 0.95), (100, 0.9)] {
            let guarantee = Guarantee::recall(target).unwrap();
            let (losses, refused) = recall_losses(41 + at as u64, source, judged, guarantee);
            let (risk, error) = summary(&losses);
            let case = format!("{name}, {judged} judged, recall {target}: {risk:.4} ± {error:.4}, {refused} refused");
            assert!(risk <= 1.0 - target + 3.0 * error, "{case}");
            if name != "partly missed" {
                assert_eq!(refused, 0, "{case}");
            }
        }
    }
}

/// A promise of precision may fail only in the share of draws that the confidence leaves.
#[test]
fn precision_is_what_was_promised_as_often_as_was_promised() {
    let (target, confidence) = (0.7, 0.8);
    let guarantee = Guarantee::precision(target, confidence).unwrap();
    let many = |seed: u64, source: Source| -> Vec<CalibrationQuery> {
        let mut random = Random(seed);
        (0..2000).map(|_| source(&mut random)).collect()
    };
    let mut most_given = 0;
    for (name, source) in SOURCES {
        let population = many(99, source);
        let mut random = Random(3);
        let (mut failed, mut given, draws) = (0, 0, 1000);
        // The population's risk at each threshold. Thresholds lie on a grid, so few are computed.
        let mut risks: Vec<(f64, f64)> = Vec::new();
        for _ in 0..draws {
            let queries: Vec<CalibrationQuery> = (0..60).map(|_| source(&mut random)).collect();
            let Ok(calibrated) = guarantee.calibrate(&queries) else { continue };
            given += 1;
            let known = risks.iter().find(|(threshold, _)| *threshold == calibrated.threshold).map(|(_, risk)| *risk);
            let risk = known.unwrap_or_else(|| {
                let losses = population.iter().map(|query| precision_loss(query, kept(query, &calibrated)));
                let risk = losses.sum::<f64>() / population.len() as f64;
                risks.push((calibrated.threshold, risk));
                risk
            });
            // The population's mean is itself known to about one in a hundred.
            failed += usize::from(risk > 1.0 - target + 0.02);
        }
        let rate = f64::from(failed as u32) / f64::from(draws);
        assert!(rate <= 1.0 - confidence + 3.0 * (0.2f64 * 0.8 / 1000.0).sqrt(), "{name}: {rate} of {given} given");
        most_given = most_given.max(given);
    }
    assert!(most_given > 900, "only {most_given} promises of any source");
}
