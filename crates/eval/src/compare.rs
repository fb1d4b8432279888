//! Two reports compared query by query: gains and losses of a new version.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bootstrap::{Difference, Paired, Random, Resampled, resample};
use crate::evaluate::{mean, mean_difference, method_names};
use crate::metrics::Metric;
use crate::output::{NO_FIGURE, Table, difference_cell};
use crate::report::{CollectionReport, MethodReport, Report};

/// The changes from one report to another. It serializes to the JSON form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// β of F_β.
    pub beta: f64,
    /// The collections that are in both reports, in the order of the later one.
    pub collections: Vec<CollectionComparison>,
    /// Every method that is in both, over the shared collections, each counting the same.
    pub overall: Vec<MethodComparison>,
    /// Parts found in only one of the reports, and left out: `collection NAME` or `method NAME in COLLECTION`.
    pub left_out: Vec<String>,
}

/// One collection that is in both reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CollectionComparison {
    /// Its name.
    pub name: String,
    /// Number of queries in both with the same judgements, which are paired.
    pub queries: usize,
    /// Number of queries in one only, or judged otherwise.
    pub unpaired: usize,
    /// The methods that are in both, in the order of the later report.
    pub methods: Vec<MethodComparison>,
}

/// One method that is in both reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MethodComparison {
    /// Its name.
    pub name: String,
    /// True for a reference method, which changes only when the ranking does.
    pub reference: bool,
    /// The change of each metric that is a mean per query.
    pub changes: BTreeMap<Metric, Change>,
}

/// The change of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// Mean over the shared queries in the earlier report.
    pub before: f64,
    /// Mean over the same queries in the later one.
    pub after: f64,
    /// Later less earlier, with the interval of the paired bootstrap.
    pub difference: Difference,
}

/// Compares two reports on their common part: collections and methods of the same name, and queries of the same identifier
/// with the same number of relevant documents. Seed, resamples and β come from `after`; F_β is left out where β differs.
///
/// ```
/// # use tamis_eval::{Collection, Decision, Method, Metric, Options, PooledDocument, QueryKind, QueryPool, evaluate};
/// # let report = |keep| {
/// #     let documents = vec![PooledDocument { id: "a".into(), score: 1.0, characters: 9 }];
/// #     let judged = [("a".to_string(), 1)].into();
/// #     let query = QueryPool { id: "q".into(), kind: QueryKind::Judged, documents, judged, beyond: Vec::new() };
/// #     let method = Method { name: "mine".into(), decisions: vec![Decision::keep(keep)] };
/// #     let collection = Collection { name: "c".into(), model: None, queries: vec![query], methods: vec![method] };
/// #     evaluate(&[collection], &Options::default()).unwrap()
/// # };
/// let (before, after) = (report(0), report(1));
/// let comparison = tamis_eval::compare(&before, &after);
/// let change = comparison.overall[0].changes[&Metric::F1];
/// assert_eq!((change.before, change.after, change.difference.estimate), (0.0, 1.0, 1.0));
/// ```
pub fn compare(before: &Report, after: &Report) -> Comparison {
    let mut left_out = Vec::new();
    let mut collections = Vec::new();
    let mut resamples = Vec::new();
    for later in &after.collections {
        match before.collections.iter().find(|earlier| earlier.name == later.name) {
            Some(earlier) => {
                let (collection, means) = collection(earlier, later, before, after, &mut left_out);
                collections.push(collection);
                resamples.push(means);
            }
            None => left_out.push(format!("collection {}", later.name)),
        }
    }
    for earlier in &before.collections {
        if !after.collections.iter().any(|later| later.name == earlier.name) {
            left_out.push(format!("collection {}", earlier.name));
        }
    }
    let overall = overall(&collections, &resamples);
    Comparison { beta: after.options.beta, collections, overall, left_out }
}

fn collection(
    earlier: &CollectionReport,
    later: &CollectionReport,
    before: &Report,
    after: &Report,
    left_out: &mut Vec<String>,
) -> (CollectionComparison, Resampled) {
    let positions: BTreeMap<&str, usize> =
        earlier.queries.iter().enumerate().map(|(position, query)| (query.id.as_str(), position)).collect();
    // Positions in the earlier and in the later report.
    let pairs: Vec<(usize, usize)> = later
        .queries
        .iter()
        .enumerate()
        .filter_map(|(position, query)| Some((*positions.get(query.id.as_str())?, position)))
        .filter(|&(old, new)| {
            let (old, new) = (&earlier.queries[old], &later.queries[new]);
            (old.kind, old.relevant) == (new.kind, new.relevant)
        })
        .collect();

    let mut methods = Vec::new();
    let (mut keys, mut paired) = (Vec::new(), Vec::new());
    for new in &later.methods {
        let Some(old) = earlier.method(&new.name) else {
            left_out.push(format!("method {} in {}", new.name, later.name));
            continue;
        };
        let mut changes = BTreeMap::new();
        for &metric in Metric::PAIRED {
            if metric == Metric::FBeta && before.options.beta != after.options.beta {
                continue;
            }
            let value = |method: &MethodReport, position: usize, collection: &CollectionReport| {
                method.kept.value(metric, position, &collection.queries[position], after.options.beta)
            };
            let values: Vec<(usize, f64, f64)> = pairs
                .iter()
                .enumerate()
                .filter_map(|(pair, &(at, to))| Some((pair, value(old, at, earlier)?, value(new, to, later)?)))
                .collect();
            let before = mean(values.iter().map(|value| value.1));
            let after = mean(values.iter().map(|value| value.2));
            let Some((before, after)) = before.zip(after) else { continue };
            let differences =
                Paired { differences: values.iter().map(|&(pair, old, new)| (pair, new - old)).collect() };
            let difference = Difference::new(differences.mean(), Vec::new());
            changes.insert(metric, Change { before, after, difference });
            keys.push((methods.len(), metric));
            paired.push(differences);
        }
        methods.push(MethodComparison { name: new.name.clone(), reference: new.reference, changes });
    }
    for old in earlier.methods.iter().filter(|old| later.method(&old.name).is_none()) {
        left_out.push(format!("method {} in {}", old.name, later.name));
    }

    let strata: Vec<usize> = pairs.iter().map(|&(_, new)| later.queries[new].kind as usize).collect();
    let mut random = Random::new(after.options.seed, "compare", &later.name);
    let means = resample(&mut random, &strata, after.options.resamples, &paired);
    let mut resampled = Resampled::new();
    for ((at, metric), means) in keys.into_iter().zip(means) {
        let method: &mut MethodComparison = &mut methods[at];
        if let Some(change) = method.changes.get_mut(&metric) {
            change.difference = Difference::new(change.difference.estimate, means.clone());
        }
        resampled.insert((method.name.clone(), metric), means);
    }
    let comparison = CollectionComparison {
        name: later.name.clone(),
        queries: pairs.len(),
        unpaired: earlier.queries.len() + later.queries.len() - 2 * pairs.len(),
        methods,
    };
    (comparison, resampled)
}

fn overall(collections: &[CollectionComparison], resampled: &[Resampled]) -> Vec<MethodComparison> {
    let methods = collections.iter().flat_map(|collection| &collection.methods);
    let names = method_names(methods.map(|method| (method.name.as_str(), method.reference)));
    let method = |(name, reference): (&str, bool)| {
        let mut changes = BTreeMap::new();
        for &metric in Metric::PAIRED {
            let (mut before, mut after, mut draws) = (Vec::new(), Vec::new(), Vec::new());
            for (collection, resampled) in collections.iter().zip(resampled) {
                let method = collection.methods.iter().find(|method| method.name == name);
                if let Some(change) = method.and_then(|method| method.changes.get(&metric)) {
                    before.push(change.before);
                    after.push(change.after);
                    draws.extend(resampled.get(&(name.to_owned(), metric)).map(Vec::as_slice));
                }
            }
            let Some((before, after)) = mean(before).zip(mean(after)) else { continue };
            let difference = mean_difference(vec![after - before], &draws);
            changes.insert(metric, Change { before, after, difference });
        }
        MethodComparison { name: name.to_owned(), reference, changes }
    };
    names.into_iter().map(method).collect()
}

impl MethodComparison {
    /// Returns true if every metric stayed the same.
    fn is_unchanged(&self) -> bool {
        self.changes.values().all(|change| change.difference.is_nothing())
    }
}

impl Comparison {
    /// One metric: every method before and after over all shared collections, and the change on each of them. Unchanged
    /// reference methods are left out.
    pub fn table(&self, metric: Metric) -> Table {
        let heads = ["method", "before", "after", "change"].map(String::from);
        let names = self.collections.iter().map(|collection| collection.name.clone());
        let mut rows = Vec::new();
        let mut given = 0;
        for method in self.overall.iter().filter(|method| !(method.reference && method.is_unchanged())) {
            let Some(change) = method.changes.get(&metric) else { continue };
            let mut row = vec![method.name.clone(), metric.format(change.before), metric.format(change.after)];
            row.push(difference_cell(metric, &change.difference));
            row.extend(self.collections.iter().map(|collection| {
                let method = collection.methods.iter().find(|other| other.name == method.name);
                let change = method.and_then(|method| method.changes.get(&metric));
                change.map_or(NO_FIGURE.to_owned(), |change| difference_cell(metric, &change.difference))
            }));
            given += usize::from(!method.reference);
            rows.push(row);
        }
        Table {
            title: metric.title(self.beta),
            note: metric.description().to_owned(),
            header: heads.into_iter().chain(names).collect(),
            rows,
            given,
        }
    }

    /// The tables of the most wanted metrics, without empty ones.
    pub fn tables(&self) -> Vec<Table> {
        use Metric::*;
        let metrics = [
            RelativeF1, ShareOfBestF1, F1, FBeta, Precision, Recall, Kept, AnswerableEmpty, UnanswerableEmpty,
            ForeignEmpty, F1EveryQuery,
        ];
        let shown = metrics.into_iter().filter(|&metric| metric != FBeta || self.beta != 1.0);
        shown.map(|metric| self.table(metric)).filter(|table| !table.rows.is_empty()).collect()
    }

    /// The comparison as one Markdown document.
    pub fn markdown(&self) -> String {
        let mut text =
            "# Two evaluations compared\n\nMeans over the queries that both have, each collection counting the \
            same, and the later less the earlier with its 95% interval.\n\n"
                .to_owned();
        let table = Table {
            title: String::new(),
            note: String::new(),
            header: ["collection", "shared queries", "left out"].map(String::from).into(),
            rows: self
                .collections
                .iter()
                .map(|collection| {
                    vec![collection.name.clone(), collection.queries.to_string(), collection.unpaired.to_string()]
                })
                .collect(),
            given: 0,
        };
        text.push_str(&table.markdown());
        if !self.left_out.is_empty() {
            text.push_str(&format!("\nOnly in one of the two: {}.\n", self.left_out.join(", ")));
        }
        if self.overall.iter().any(|method| method.reference && method.is_unchanged()) {
            text.push_str("\nReference methods that are not shown are the same in both.\n");
        }
        for table in self.tables() {
            text.push_str(&format!("\n## {}\n\n{}", table.title, table.markdown()));
        }
        text
    }

    /// The JSON form.
    ///
    /// # Errors
    /// A figure that JSON cannot hold. Comparisons from [`compare()`] have none.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Collection, Decision};
    use crate::{Options, evaluate, example};

    fn report(change: impl FnOnce(&mut Vec<Collection>)) -> Report {
        let mut collections = example::collections();
        change(&mut collections);
        evaluate(&collections, &Options { resamples: 200, ..Options::default() }).unwrap()
    }

    #[test]
    fn a_report_against_itself_has_not_changed() {
        let report = report(|_| ());
        let comparison = compare(&report, &report);
        assert!(comparison.left_out.is_empty());
        let counts: Vec<_> = comparison.collections.iter().map(|it| (it.queries, it.unpaired)).collect();
        assert_eq!(counts, [(24, 0), (15, 0)]);
        for method in &comparison.overall {
            let expected = report.method(&method.name).unwrap();
            for (metric, change) in &method.changes {
                assert_eq!(change.before, expected.figures[metric], "{} {metric}", method.name);
                assert_eq!(change.difference, Difference { estimate: 0.0, low: Some(0.0), high: Some(0.0) });
            }
        }
    }

    #[test]
    fn what_changed_is_found_and_what_is_not_shared_is_named() {
        let before = report(|collections| collections[1].name = "old".into());
        let after = report(|collections| {
            collections[0].queries.truncate(20);
            collections[0].queries[0].id = "new".into();
            collections[0].methods.remove(0);
            collections[0].methods[0].decisions = vec![Decision::keep(1); 20];
        });
        let comparison = compare(&before, &after);
        assert_eq!((comparison.collections[0].queries, comparison.collections[0].unpaired), (19, 6));
        assert_eq!(comparison.left_out, ["method cautious in first", "collection second", "collection old"]);
        let generous = &comparison.overall[0];
        assert_eq!((generous.name.as_str(), generous.changes[&Metric::Kept].after), ("generous", 1.0));
        let fixed = comparison.overall.iter().find(|method| method.name == "fixed-1").unwrap();
        assert_eq!(fixed.changes[&Metric::F1].difference.estimate, 0.0);
        assert!(generous.changes[&Metric::Kept].difference.high.is_some_and(|high| high < 0.0));
    }

    #[test]
    fn markdown_of_a_comparison() {
        let before = report(|_| ());
        let after = report(|collections| {
            collections[0].methods[0].decisions.iter_mut().for_each(|decision| decision.keep = decision.keep.min(2));
        });
        insta::assert_snapshot!(compare(&before, &after).markdown());
    }
}
