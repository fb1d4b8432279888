//! Means over collections.

use std::collections::BTreeMap;

use crate::evaluate::Resampled;
use crate::report::{CollectionReport, Overall};
use crate::resample::Difference;

/// Each method over all collections that have it, each collection counting the same. Methods come in the order in which
/// they first occur, the reference methods last.
pub(crate) fn overall(collections: &[CollectionReport], resampled: &[Resampled]) -> Vec<Overall> {
    let mut names: Vec<(&str, bool)> = Vec::new();
    for method in collections.iter().flat_map(|collection| &collection.methods) {
        let name = (method.name.as_str(), method.reference);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|&(_, reference)| reference);
    names.into_iter().map(|(name, reference)| method(name, reference, collections, resampled)).collect()
}

fn method(name: &str, reference: bool, collections: &[CollectionReport], resampled: &[Resampled]) -> Overall {
    let mut figures: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    let mut differences: BTreeMap<_, (Vec<f64>, Vec<&[f64]>)> = BTreeMap::new();
    for (collection, resampled) in collections.iter().zip(resampled) {
        let Some(method) = collection.method(name) else { continue };
        for (&metric, &value) in &method.figures {
            figures.entry(metric).or_default().push(value);
        }
        for (&metric, difference) in &method.differences {
            let (estimates, resamples) = differences.entry(metric).or_default();
            estimates.push(difference.estimate);
            resamples.extend(resampled.get(&(name.to_owned(), metric)).map(Vec::as_slice));
        }
    }
    let difference = |(estimates, resamples): (Vec<f64>, Vec<&[f64]>)| {
        let count = resamples.first().map_or(0, |first| first.len());
        let means = (0..count).map(|draw| mean(resamples.iter().map(|resamples| resamples[draw])));
        Difference::new(mean(estimates.into_iter()), means.collect())
    };
    Overall {
        name: name.to_owned(),
        reference,
        collections: figures.iter().map(|(&metric, values)| (metric, values.len())).collect(),
        figures: figures.into_iter().map(|(metric, values)| (metric, mean(values.into_iter()))).collect(),
        differences: differences.into_iter().map(|(metric, values)| (metric, difference(values))).collect(),
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / count as f64
}
