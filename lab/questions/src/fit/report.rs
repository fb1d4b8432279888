//! How fitted models do on lists and families that they were not fitted to.

use super::{Evidence, FOREIGN, Predicted, REPORTED, TABLES, fit};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tamis_cut::{Auto, Gate, Pool};

/// Parts into which the lists are divided for cross-validation.
const FOLDS: usize = 5;

/// Entries below the line that an answer shows, where something is above it and where nothing is.
const BELOW: usize = 5;
const NEAREST: usize = 8;

/// Returns tables of how the models of each basis do on lists (`by_family`: on whole families) that they were not fitted to.
#[must_use]
pub fn left_out(all: &[Evidence], by_family: bool) -> String {
    let mut report = String::new();
    for table in REPORTED.map(|at| &TABLES[at]) {
        let all: Vec<&Evidence> = all.iter().filter(|evidence| evidence.basis == table.basis).collect();
        let group = |evidence: &Evidence| match by_family {
            true => evidence.family().trim_start_matches(FOREIGN).to_owned(),
            false => fold(&evidence.list).to_string(),
        };
        let groups: BTreeSet<String> = all.iter().map(|evidence| group(evidence)).collect();
        let mut predicted: BTreeMap<&str, Vec<Predicted<'_>>> = BTreeMap::new();
        for left in &groups {
            let rest: Vec<&Evidence> = all.iter().copied().filter(|evidence| group(evidence) != *left).collect();
            let models = fit(&rest, table);
            for evidence in all.iter().copied().filter(|evidence| group(evidence) == *left) {
                predicted.entry(evidence.family()).or_default().push(models.predict(evidence));
            }
        }
        let _ = writeln!(report, "{}\n{}", table.about, header());
        for (family, lists) in &predicted {
            let foreign = predicted.get(format!("{FOREIGN}{family}").as_str());
            let _ = writeln!(report, "{family:<24}{}", Figures::of(lists, foreign.map_or(&[], Vec::as_slice)));
        }
        report.push('\n');
    }
    report
}

/// The part of a list. All questions to one project are left out together, whichever of its trees they ask.
fn fold(list: &str) -> usize {
    let project = list.rsplit('/').next().unwrap_or(list).to_lowercase();
    project.bytes().fold(0_usize, |sum, byte| (31 * sum + usize::from(byte)) % 65_521) % FOLDS
}

fn header() -> String {
    format!(
        "{:<24}{:>6}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}",
        "family", "lists", "first", "MRR", "fused", "above", "seen", "kept", "empty", "near", "far", "AUROC"
    ) + &format!("{:>7}", "error")
}

/// How models do on a family: the share of right first entries, the mean reciprocal rank by the models and by the fused score, the shares
/// of questions with a right entry above the line and with one that is visible, entries kept, empty answers, and of questions without an
/// answer those that get one; how well the log odds of an answer tell the family from the same questions elsewhere; and the mean
/// difference of what is said and what is so above the line.
struct Figures {
    lists: usize,
    means: [f64; 7],
    near: Option<f64>,
    far: Option<f64>,
    auroc: Option<f64>,
    error: f64,
}

impl Figures {
    fn of(lists: &[Predicted<'_>], foreign: &[Predicted<'_>]) -> Figures {
        let (mut sums, mut answerable) = ([0.0; 7], 0.0_f64);
        let (mut bins, mut shown) = ([(0.0, 0.0); 10], 0.0_f64);
        let mut answered: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for list in lists {
            let Predicted { evidence, values, probabilities, .. } = list;
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
            let keep = kept(order.iter().map(|&at| probabilities[at]).collect());
            for &at in &order[..keep] {
                let bin: &mut (f64, f64) = &mut bins[((10.0 * probabilities[at]) as usize).min(9)];
                bin.0 += probabilities[at];
                bin.1 += f64::from(u8::from(evidence.entries[at].relevant));
                shown += 1.0;
            }
            if evidence.topic != "answerable" {
                let (all, some) = answered.entry(evidence.topic.as_str()).or_default();
                *all += 1.0;
                *some += f64::from(u8::from(keep > 0));
                continue;
            }
            answerable += 1.0;
            sums[5] += keep as f64;
            sums[6] += f64::from(u8::from(keep == 0));
            let fused = evidence.entries.iter().position(|entry| entry.relevant);
            sums[2] += fused.map_or(0.0, |place| 1.0 / (place + 1) as f64);
            if let Some(place) = order.iter().position(|&at| evidence.entries[at].relevant) {
                let counts = |holds: bool| f64::from(u8::from(holds));
                sums[0] += counts(place == 0);
                sums[1] += 1.0 / (place + 1) as f64;
                sums[3] += counts(place < keep);
                sums[4] += counts(place < if keep == 0 { NEAREST } else { keep + BELOW });
            }
        }
        let share = |topic: &str| answered.get(topic).map(|(all, some)| some / all);
        let own = lists.iter().filter(|list| list.evidence.topic == "answerable").map(|list| list.answer);
        Figures {
            lists: lists.len(),
            means: sums.map(|sum| sum / answerable),
            near: share("near"),
            far: share("far"),
            auroc: auroc(&own.collect::<Vec<_>>(), &foreign.iter().map(|list| list.answer).collect::<Vec<_>>()),
            error: bins.iter().map(|(said, so): &(f64, f64)| (said - so).abs()).sum::<f64>() / shown.max(1.0),
        }
    }
}

/// The number of entries of these probabilities, best first, that a search keeps.
fn kept(probabilities: Vec<f64>) -> usize {
    let Ok(pool) = Pool::scores(vec![0.0; probabilities.len()]) else { return 0 };
    let pool = pool.with_probabilities(probabilities);
    Gate::default().cut(&tamis_cut::Evidence::default(), &Auto::default(), &pool).keep
}

/// The share of pairs in which the value of an answerable list is the greater one.
fn auroc(own: &[f64], foreign: &[f64]) -> Option<f64> {
    let wins = |own: &f64| foreign.iter().map(|other| f64::from(u8::from(own > other))).sum::<f64>();
    (!own.is_empty() && !foreign.is_empty())
        .then(|| own.iter().map(wins).sum::<f64>() / (own.len() * foreign.len()) as f64)
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>6}", self.lists)?;
        for (at, mean) in self.means.iter().enumerate() {
            match mean.is_nan() {
                true => write!(f, "{:>7}", "–")?,
                false => write!(f, "{mean:>7.decimals$}", decimals = if at == 5 { 1 } else { 3 })?,
            }
        }
        for share in [self.near, self.far, self.auroc] {
            write!(f, "{:>7}", share.map_or("–".to_owned(), |share| format!("{share:.2}")))?;
        }
        write!(f, "{:>7.3}", self.error)
    }
}
