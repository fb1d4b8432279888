//! Fits the model of relevance of `tamis-rank` to the evidence of many questions, and says how well it does on what it was not fitted to.
//!
//! The model is a logistic regression for each set of legs, with a small ridge. A question counts the same whatever the length of its
//! list, the first entries of a list count more than the deep ones, and each family of questions has its weight: the mixture decides what the model is
//! good at.

mod judging;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tamis_cut::{Auto, Gate, Pool};
use tamis_rank::{FEATURES, probability};

/// Weights of the families. A collection is a family of its own.
const FAMILIES: [(&str, f64); 5] =
    [("other words", 3.0), ("lists", 2.0), ("commits", 2.0), ("own words", 1.5), ("exact", 1.0)];
const COLLECTION: f64 = 0.12;

/// The power by which deeper entries count less.
const DEPTH: f64 = 1.2;

/// The ridge, in relation to the weight of all entries.
const RIDGE: f64 = 1e-3;

/// Parts into which the lists are divided for cross-validation.
const FOLDS: usize = 5;

/// The evidence on the entries of one question.
#[derive(Debug, Deserialize)]
pub struct Evidence {
    family: String,
    list: String,
    topic: String,
    #[serde(default)]
    late_weight: Option<f64>,
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    relevant: bool,
    evidence: BTreeMap<String, f64>,
}

/// A table of weights: its name in the source, what it is for, and the beginnings of the names of features that it does not read.
struct Table {
    name: &'static str,
    about: &'static str,
    leaves_out: &'static [&'static str],
}

const TABLES: [Table; 4] = [
    Table { name: "LATE", about: "Words, meaning, and the late vectors of the first entries.", leaves_out: &[] },
    Table { name: "SCORES", about: "Words and meaning.", leaves_out: &["late"] },
    Table { name: "WORDS", about: "Words alone.", leaves_out: &["late", "similarity", "shortfall"] },
    Table {
        name: "MEANING",
        about: "Meaning alone.",
        leaves_out: &["late", "coverage", "required", "words", "exact", "shortfall"],
    },
];

/// The bias and the weight of each feature.
type Weights = (f64, Vec<f64>);

/// Reads evidence, one question a line.
///
/// # Errors
/// A line cannot be understood.
pub fn read(text: &str) -> Result<Vec<Evidence>> {
    let line = |line: &str| serde_json::from_str(line).with_context(|| format!("no evidence: {line:.80}"));
    text.lines().filter(|line| !line.is_empty()).map(line).collect()
}

/// Fits all tables and returns the source of `weights.rs`.
///
/// # Errors
/// There is too little evidence.
pub fn source(all: &[Evidence]) -> Result<String> {
    ensure!(all.len() >= 100, "{} questions are too few to fit anything", all.len());
    let all: Vec<&Evidence> = all.iter().collect();
    let mut source =
        "//! The weights of the model of relevance. `cargo xtask fit` writes this file.\n\nuse super::Weights;\n"
            .to_owned();
    for table in &TABLES {
        let (bias, weights) = fit(&all, table);
        let Table { name, about, .. } = table;
        let _ = write!(
            source,
            "\n/// {about}\n#[rustfmt::skip]\npub(super) const {name}: Weights = Weights {{\n    bias: {bias:.4},\n    features: [\n"
        );
        for (feature, weight) in FEATURES.iter().zip(weights) {
            let _ = writeln!(source, "        {weight:.4}, // {feature}");
        }
        source += "    ],\n};\n";
    }
    Ok(source)
}

/// The log odds that a model gave to the entries of each question.
type Predicted<'e> = Vec<(&'e Evidence, Vec<f64>)>;

/// Predicts all questions by models that were not fitted to their lists (`by_family`: to their whole families).
fn predicted(all: &[Evidence], by_family: bool) -> Predicted<'_> {
    let group = |evidence: &Evidence| match by_family {
        true => family(evidence).to_owned(),
        // All questions to one tree are left out together.
        false => {
            (evidence.list.bytes().fold(0_usize, |sum, byte| 31 * sum % 65_521 + usize::from(byte)) % FOLDS).to_string()
        }
    };
    let groups: BTreeSet<String> = all.iter().map(group).collect();
    let mut predicted = Vec::new();
    for left in &groups {
        let rest: Vec<&Evidence> = all.iter().filter(|evidence| group(evidence) != *left).collect();
        let (late, scores) = (fit(&rest, &TABLES[0]), fit(&rest, &TABLES[1]));
        for evidence in all.iter().filter(|evidence| group(evidence) == *left) {
            let weight = evidence.late_weight.unwrap_or(0.0);
            let log_odds = |entry: &Entry| {
                let values = values(entry);
                let odds = |(bias, weights): &Weights| bias + dot(weights, &values);
                weight * odds(&late) + (1.0 - weight) * odds(&scores)
            };
            predicted.push((evidence, evidence.entries.iter().map(log_odds).collect()));
        }
    }
    predicted
}

/// Returns tables of how a fitted model does on lists (`by_family`: on whole families) that it was not fitted to, and of what judgements
/// of some of their answers change in the others.
#[must_use]
pub fn left_out(all: &[Evidence], by_family: bool) -> String {
    let all = predicted(all, by_family);
    let mut predicted: BTreeMap<&str, Vec<(&Evidence, Vec<f64>)>> = BTreeMap::new();
    for (evidence, log_odds) in &all {
        let probabilities = log_odds.iter().copied().map(probability).collect();
        predicted.entry(family(evidence)).or_default().push((evidence, probabilities));
    }
    let mut table = format!(
        "{:<20}{:>10}{:>8}{:>8}{:>8}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}{:>18}\n",
        "family",
        "questions",
        "first",
        "MRR",
        "above",
        "visible",
        "kept",
        "empty",
        "near",
        "far",
        "error",
        "best: 10, 50, 90%"
    );
    for (family, questions) in &predicted {
        let _ = writeln!(table, "{family:<20}{}", Left::of(questions));
    }
    table + "\n" + &judging::table(&all)
}

/// How a model does on a family.
#[derive(Default)]
struct Left {
    questions: usize,
    first: f64,
    reciprocal_rank: f64,
    above: f64,
    visible: f64,
    kept: f64,
    empty: f64,
    near: Option<f64>,
    far: Option<f64>,
    error: f64,
    best: [f64; 3],
}

/// Entries below the line that an answer shows, where something is above it and where nothing is.
const BELOW: usize = 5;
const NEAREST: usize = 3;

impl Left {
    fn of(questions: &[(&Evidence, Vec<f64>)]) -> Left {
        let mut left = Left { questions: questions.len(), ..Left::default() };
        let (mut best, mut bins, mut shown) = (Vec::new(), [(0.0, 0.0); 10], 0.0);
        let mut answered: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (evidence, probabilities) in questions {
            let mut order: Vec<usize> = (0..probabilities.len()).collect();
            order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]).then(a.cmp(&b)));
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
            best.push(order.first().map_or(0.0, |&at| probabilities[at]));
            left.kept += keep as f64;
            left.empty += f64::from(u8::from(keep == 0));
            if let Some(place) = order.iter().position(|&at| evidence.entries[at].relevant) {
                let counts = |holds: bool| f64::from(u8::from(holds));
                left.first += counts(place == 0);
                left.reciprocal_rank += 1.0 / (place + 1) as f64;
                left.above += counts(place < keep);
                left.visible += counts(place < if keep == 0 { NEAREST } else { keep + BELOW });
            }
        }
        best.sort_by(f64::total_cmp);
        let count = best.len().max(1) as f64;
        let Left { first, reciprocal_rank, above, visible, kept, empty, .. } = &mut left;
        [first, reciprocal_rank, above, visible, kept, empty].into_iter().for_each(|sum| *sum /= count);
        let share = |topic: &str| answered.get(topic).map(|(all, some)| some / all);
        (left.near, left.far) = (share("near"), share("far"));
        left.error = bins.iter().map(|(said, so): &(f64, f64)| (said - so).abs()).sum::<f64>() / f64::max(shown, 1.0);
        left.best = [10, 50, 90].map(|percent| best.get(best.len() * percent / 100).copied().unwrap_or(0.0));
        left
    }
}

/// The number of entries of these probabilities, best first, that a search keeps.
fn kept(probabilities: Vec<f64>) -> usize {
    let Ok(pool) = Pool::scores(vec![0.0; probabilities.len()]) else { return 0 };
    let pool = pool.with_probabilities(probabilities);
    Gate::default().cut(&tamis_cut::Evidence::default(), &Auto::default(), &pool).keep
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Left {
            questions,
            first,
            reciprocal_rank,
            above,
            visible,
            kept,
            empty,
            error,
            best: [low, middle, high],
            ..
        } = self;
        let share = |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{share:.2}"));
        let (near, far, best) = (share(self.near), share(self.far), format!("{low:.2} {middle:.2} {high:.2}"));
        write!(
            f,
            "{questions:>10}{first:>8.3}{reciprocal_rank:>8.3}{above:>8.2}{visible:>9.2}{kept:>8.1}{empty:>8.2}{near:>8}{far:>8}{error:>8.3}{best:>18}"
        )
    }
}

/// The family of a question; each collection is one.
fn family(evidence: &Evidence) -> &str {
    if evidence.family == "collections" { &evidence.list } else { &evidence.family }
}

fn values(entry: &Entry) -> Vec<f64> {
    FEATURES.iter().map(|name| entry.evidence.get(*name).copied().unwrap_or(0.0)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// One entry as the regression reads it.
struct Sample {
    values: Vec<f64>,
    relevant: f64,
    weight: f64,
}

/// Fits one table.
fn fit(all: &[&Evidence], table: &Table) -> Weights {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    all.iter().for_each(|evidence| *counts.entry(family(evidence)).or_default() += 1.0);
    let is_late = table.leaves_out.is_empty();
    let reads: Vec<usize> = (0..FEATURES.len())
        .filter(|&at| !table.leaves_out.iter().any(|start| FEATURES[at].starts_with(start)))
        .collect();
    let mut samples = Vec::new();
    for evidence in all {
        let share = if is_late { evidence.late_weight.unwrap_or(0.0) } else { 1.0 };
        let of_family =
            FAMILIES.iter().find(|(name, _)| *name == evidence.family).map_or(COLLECTION, |(_, weight)| *weight);
        let weight = 1000.0 * share * of_family / counts[family(evidence)];
        if weight <= 0.0 {
            continue;
        }
        for entry in &evidence.entries {
            let values = values(entry);
            samples.push(Sample {
                values: reads.iter().map(|&at| values[at]).collect(),
                relevant: f64::from(u8::from(entry.relevant)),
                // The list is in the order of the model before. The place by scores is a feature, as its logarithm.
                weight: weight / entry.evidence.get("rank").map_or(1.0, |rank| rank.exp()).powf(DEPTH),
            });
        }
    }
    let (bias, fitted) = regression(&samples, reads.len());
    let mut weights = vec![0.0; FEATURES.len()];
    reads.iter().zip(fitted).for_each(|(&at, weight)| weights[at] = weight);
    (bias, weights)
}

/// Weighted logistic regression by Newton's method, on standardized values.
fn regression(samples: &[Sample], features: usize) -> Weights {
    let total: f64 = samples.iter().map(|sample| sample.weight).sum();
    let mean = |of: &dyn Fn(&Sample) -> f64| samples.iter().map(|s| s.weight * of(s)).sum::<f64>() / total;
    let means: Vec<f64> = (0..features).map(|at| mean(&|s| s.values[at])).collect();
    let spreads: Vec<f64> =
        (0..features).map(|at| mean(&|s| (s.values[at] - means[at]).powi(2)).sqrt() + 1e-9).collect();
    let size = features + 1;
    let mut weights = vec![0.0; size];
    for _ in 0..40 {
        let mut gradient = vec![0.0; size];
        let mut hessian = vec![vec![0.0; size]; size];
        let mut standardized = vec![1.0; size];
        for sample in samples {
            for at in 0..features {
                standardized[at] = (sample.values[at] - means[at]) / spreads[at];
            }
            let probability = 1.0 / (1.0 + (-dot(&weights, &standardized)).exp());
            let (error, curve) =
                (sample.weight * (probability - sample.relevant), sample.weight * probability * (1.0 - probability));
            for row in 0..size {
                gradient[row] += error * standardized[row];
                let scaled = curve * standardized[row];
                for column in 0..=row {
                    hessian[row][column] += scaled * standardized[column];
                }
            }
        }
        for at in 0..features {
            gradient[at] += RIDGE * total * weights[at];
            hessian[at][at] += RIDGE * total;
        }
        let step = solved(hessian, gradient);
        weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= step);
        if step.iter().all(|step| step.abs() < 1e-8) {
            break;
        }
    }
    let raw: Vec<f64> = (0..features).map(|at| weights[at] / spreads[at]).collect();
    (weights[features] - dot(&raw, &means), raw)
}

/// Solves `matrix · x = right` for a symmetric, positive matrix, of which the lower half is given (Cholesky).
fn solved(mut matrix: Vec<Vec<f64>>, right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for row in 0..size {
        for column in 0..=row {
            let sum: f64 = (0..column).map(|at| matrix[row][at] * matrix[column][at]).sum();
            let rest = matrix[row][column] - sum;
            matrix[row][column] = if row == column { rest.max(1e-12).sqrt() } else { rest / matrix[column][column] };
        }
    }
    let mut x = right;
    for row in 0..size {
        let sum: f64 = (0..row).map(|at| matrix[row][at] * x[at]).sum();
        x[row] = (x[row] - sum) / matrix[row][row];
    }
    for row in (0..size).rev() {
        let sum: f64 = (row + 1..size).map(|at| matrix[at][row] * x[at]).sum();
        x[row] = (x[row] - sum) / matrix[row][row];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regression_finds_the_weights_that_made_the_labels() {
        let mut samples = Vec::new();
        for step in 0..2000 {
            let (x, y) = (f64::from(step % 40) / 10.0 - 2.0, f64::from(step % 7) / 3.0 - 1.0);
            let probability = 1.0 / (1.0 + (-(0.5 + 1.2 * x - 0.8 * y)).exp());
            for (relevant, weight) in [(1.0, probability), (0.0, 1.0 - probability)] {
                samples.push(Sample { values: vec![x, y], relevant, weight });
            }
        }
        let (bias, weights) = regression(&samples, 2);
        assert!((bias - 0.5).abs() < 0.02 && (weights[0] - 1.2).abs() < 0.02 && (weights[1] + 0.8).abs() < 0.02);
    }

    #[test]
    fn a_system_is_solved() {
        let x = solved(vec![vec![4.0, 0.0], vec![2.0, 3.0]], vec![2.0, -1.0]);
        assert!((4.0 * x[0] + 2.0 * x[1] - 2.0).abs() < 1e-12 && (2.0 * x[0] + 3.0 * x[1] + 1.0).abs() < 1e-12);
    }
}
