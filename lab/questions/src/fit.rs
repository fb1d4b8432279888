//! Fits the models of relevance of `tamis-rank` to the evidence of many questions, and says how well they do on what they were not
//! fitted to.
//!
//! Each basis has three models. *Is there an answer?* is a logistic regression over lists. *Which entry?* is a conditional logit over the
//! entries of the lists that hold an answer, with two weights for each piece of evidence: one where words cover the question, one where
//! they do not. *Together* is a logistic regression over entries. Families of questions have equal weights, whatever their size, and so
//! have the same questions put to a corpus that cannot answer them.

mod regression;
mod report;

pub use report::left_out;

use anyhow::{Context, Result, ensure};
use regression::{Lists, Samples, conditional, dot, logistic};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tamis_rank::{ENTRY_FEATURES, JOINT_FEATURES, LIST_FEATURES, joint_values};

/// The weight of each family of questions; others have 1. A judged collection is a family of its own.
const FAMILIES: [(&str, f64); 5] =
    [("exact", 0.5), ("own words", 0.7), ("paraphrased", 2.0), ("words", 2.0), ("reports", 1.5)];
const COLLECTION: f64 = 0.25;

/// The beginning of the name of a family of questions that are put to a corpus that cannot answer them.
pub(crate) const FOREIGN: &str = "foreign ";

/// The evidence that alone orders a list as its scores do.
const BY_SCORE: [&str; 2] = ["score", "rank"];

/// The power by which deeper entries count less in the joint model.
const DEPTH: f64 = 0.7;

/// The evidence on the list of one question.
#[derive(Debug, Deserialize)]
pub struct Evidence {
    family: String,
    list: String,
    topic: String,
    basis: String,
    covered: f64,
    evidence: BTreeMap<String, f64>,
    /// The entries in the order of their scores.
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    relevant: bool,
    evidence: BTreeMap<String, f64>,
}

impl Evidence {
    /// The family of a question; each collection is one.
    fn family(&self) -> &str {
        if self.family == "collections" { &self.list } else { &self.family }
    }

    fn is_answered(&self) -> bool {
        self.topic == "answerable" && self.entries.iter().any(|entry| entry.relevant)
    }

    /// The weight of the family. The questions of all collections, put elsewhere, weigh as much as where they are answered.
    fn weight(&self, collections: usize) -> f64 {
        let family = self.family.strip_prefix(FOREIGN).unwrap_or(&self.family);
        let known = FAMILIES.iter().find(|(name, _)| *name == family).map(|(_, weight)| *weight);
        match (family, self.family == family) {
            ("collections", true) => COLLECTION,
            ("collections", false) => COLLECTION * collections as f64,
            _ => known.unwrap_or(1.0),
        }
    }
}

/// A set of models: its name in the source, what it is for, the basis whose evidence it is fitted to, and parts of the names of features
/// that it does not read.
struct Table {
    name: &'static str,
    about: &'static str,
    basis: &'static str,
    leaves_out: &'static [&'static str],
}

const TABLES: [Table; 5] = [
    Table {
        name: "WORDS",
        about: "Words alone.",
        basis: "on_demand",
        leaves_out: &["similarity", "on_demand", "background", "both"],
    },
    Table {
        name: "MEANING",
        about: "Meaning alone.",
        basis: "on_demand",
        leaves_out: &["on_demand", "coverage", "both", "required", "exact", "missing"],
    },
    Table {
        name: "SCORES",
        about: "Words, and meaning by the quick model.",
        basis: "on_demand",
        leaves_out: &["on_demand"],
    },
    Table {
        name: "ON_DEMAND",
        about: "The same, and the better model on the first candidates.",
        basis: "on_demand",
        leaves_out: &[],
    },
    Table {
        name: "EMBEDDED",
        about: "Words, and meaning by the better model.",
        basis: "embedded",
        leaves_out: &["on_demand"],
    },
];

/// The tables that the report is about.
const REPORTED: [usize; 3] = [2, 3, 4];

/// The fitted models of one table.
struct Models {
    list: (f64, Vec<f64>),
    covered: Vec<f64>,
    uncovered: Vec<f64>,
    joint: (f64, Vec<f64>),
}

/// What models say of a list: whether it holds an answer, the value of each entry, and its probability.
struct Predicted<'e> {
    evidence: &'e Evidence,
    answer: f64,
    values: Vec<f64>,
    probabilities: Vec<f64>,
}

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
    let mut source = "//! The weights of the models of relevance. `cargo xtask fit` writes this file.\n\n\
         #![allow(clippy::approx_constant, reason = \"a fitted weight is no constant\")]\n\nuse super::Models;\n"
        .to_owned();
    let list = |names: &[&str], weights: &[f64]| -> String {
        let line = |(name, weight): (&&str, &f64)| format!("        {weight:.4}, // {name}\n");
        names.iter().zip(weights).map(line).collect()
    };
    for table in &TABLES {
        let of_basis: Vec<&Evidence> = all.iter().filter(|evidence| evidence.basis == table.basis).collect();
        let Models { list: (list_bias, list_weights), covered, uncovered, joint: (joint_bias, joint_weights) } =
            fit(&of_basis, table);
        let _ = write!(
            source,
            "\n/// {}\n#[rustfmt::skip]\npub(super) const {}: Models = Models {{\n    list: ({list_bias:.4}, [\n{}    ]),\n    covered: [\n{}    ],\n    uncovered: [\n{}    ],\n    joint: ({joint_bias:.4}, [\n{}    ]),\n}};\n",
            table.about,
            table.name,
            list(&LIST_FEATURES, &list_weights),
            list(&ENTRY_FEATURES, &covered),
            list(&ENTRY_FEATURES, &uncovered),
            list(&JOINT_FEATURES, &joint_weights),
        );
    }
    Ok(source)
}

/// The positions of the features that a table reads.
fn read_by(table: &Table, features: &[&str]) -> Vec<usize> {
    (0..features.len()).filter(|&at| !table.leaves_out.iter().any(|part| features[at].contains(part))).collect()
}

fn chosen(evidence: &BTreeMap<String, f64>, features: &[&str], reads: &[usize]) -> Vec<f64> {
    reads.iter().map(|&at| evidence.get(features[at]).copied().unwrap_or(0.0)).collect()
}

/// The values of an entry, once by how far words cover the question and once by how far they do not.
fn twice(values: &[f64], covered: f64) -> Vec<f64> {
    let times = |share: f64| values.iter().map(move |value| share * value);
    times(covered).chain(times(1.0 - covered)).collect()
}

/// Spreads the weights of some features over all of them.
fn spread(reads: &[usize], weights: &[f64], features: usize) -> Vec<f64> {
    let mut all = vec![0.0; features];
    reads.iter().zip(weights).for_each(|(&at, &weight)| all[at] = weight);
    all
}

/// Fits the models of one table.
fn fit(all: &[&Evidence], table: &Table) -> Models {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    all.iter().for_each(|evidence| *counts.entry(evidence.family()).or_default() += 1.0);
    let collections = all.iter().filter(|evidence| evidence.family == "collections").map(|evidence| evidence.family());
    let collections = collections.collect::<BTreeSet<_>>().len();
    let weight = |evidence: &Evidence| 1000.0 * evidence.weight(collections) / counts[evidence.family()];
    let of_list = read_by(table, &LIST_FEATURES);
    let of_entry = read_by(table, &ENTRY_FEATURES);

    let mut samples = Samples::default();
    let mut lists = Lists::default();
    for evidence in all {
        samples.values.push(chosen(&evidence.evidence, &LIST_FEATURES, &of_list));
        samples.labels.push(f64::from(u8::from(evidence.is_answered())));
        samples.weights.push(weight(evidence));
        if evidence.is_answered() {
            let row = |entry: &Entry| {
                let values = chosen(&entry.evidence, &ENTRY_FEATURES, &of_entry);
                (twice(&values, evidence.covered), entry.relevant)
            };
            lists.lists.push(evidence.entries.iter().map(row).collect());
            lists.weights.push(weight(evidence));
        }
    }
    let (bias, list_weights) = logistic(&samples);
    let by_score: Vec<usize> =
        (0..of_entry.len()).filter(|&at| BY_SCORE.contains(&ENTRY_FEATURES[of_entry[at]])).collect();
    let first: Vec<usize> = by_score.iter().flat_map(|&at| [at, at + of_entry.len()]).collect();
    let both = conditional(&lists, &first);
    let (covered, uncovered) = both.split_at(of_entry.len());
    let mut models = Models {
        list: (bias, spread(&of_list, &list_weights, LIST_FEATURES.len())),
        covered: spread(&of_entry, covered, ENTRY_FEATURES.len()),
        uncovered: spread(&of_entry, uncovered, ENTRY_FEATURES.len()),
        joint: (0.0, vec![0.0; JOINT_FEATURES.len()]),
    };
    let mut joint = Samples::default();
    for evidence in all {
        let (answer, values) = models.read(evidence);
        for (entry, values) in evidence.entries.iter().zip(joint_values(answer, &values)) {
            joint.labels.push(f64::from(u8::from(entry.relevant && evidence.topic == "answerable")));
            // The place is a feature, as its logarithm.
            joint.weights.push(weight(evidence) / values[3].exp().powf(DEPTH));
            joint.values.push(values.to_vec());
        }
    }
    models.joint = logistic(&joint);
    models
}

impl Models {
    /// The log odds of an answer, and the value of each entry.
    fn read(&self, evidence: &Evidence) -> (f64, Vec<f64>) {
        let all = |features: &[&str]| (0..features.len()).collect::<Vec<_>>();
        let of_list = chosen(&evidence.evidence, &LIST_FEATURES, &all(&LIST_FEATURES));
        let entry = |entry: &Entry| {
            let values = chosen(&entry.evidence, &ENTRY_FEATURES, &all(&ENTRY_FEATURES));
            evidence.covered * dot(&self.covered, &values) + (1.0 - evidence.covered) * dot(&self.uncovered, &values)
        };
        (self.list.0 + dot(&self.list.1, &of_list), evidence.entries.iter().map(entry).collect())
    }

    fn predict<'e>(&self, evidence: &'e Evidence) -> Predicted<'e> {
        let (answer, values) = self.read(evidence);
        let joint =
            |read: [f64; JOINT_FEATURES.len()]| tamis_rank::probability(self.joint.0 + dot(&self.joint.1, &read));
        let probabilities = joint_values(answer, &values).into_iter().map(joint).collect();
        Predicted { evidence, answer, values, probabilities }
    }
}
