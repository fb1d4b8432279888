//! Means over collections, each collection counting the same.

use std::collections::BTreeMap;

use crate::mean::mean;
use crate::report::{CollectionReport, Overall};
use crate::resample::{Difference, Resampled};

/// Each method over all collections that have it.
pub(crate) fn overall(collections: &[CollectionReport], resampled: &[Resampled]) -> Vec<Overall> {
    let methods = collections.iter().flat_map(|collection| &collection.methods);
    let names = method_names(methods.map(|method| (method.name.as_str(), method.reference)));
    names.into_iter().map(|(name, reference)| method(name, reference, collections, resampled)).collect()
}

/// The distinct methods in the order of their first occurrence, the reference methods last.
pub(crate) fn method_names<'a>(methods: impl Iterator<Item = (&'a str, bool)>) -> Vec<(&'a str, bool)> {
    let mut names = Vec::new();
    for name in methods {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|&(_, reference)| reference);
    names
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
            let (estimates, draws) = differences.entry(metric).or_default();
            estimates.push(difference.estimate);
            draws.extend(resampled.get(&(name.to_owned(), metric)).map(Vec::as_slice));
        }
    }
    let difference = |(estimates, draws): (Vec<f64>, Vec<&[f64]>)| mean_difference(estimates, &draws);
    Overall {
        name: name.to_owned(),
        reference,
        collections: figures.iter().map(|(&metric, values)| (metric, values.len())).collect(),
        figures: figures.into_iter().map(|(metric, values)| (metric, mean(values).unwrap_or(0.0))).collect(),
        differences: differences.into_iter().map(|(metric, values)| (metric, difference(values))).collect(),
    }
}

/// The mean difference over collections, with the interval of the means on each resample.
pub(crate) fn mean_difference(estimates: Vec<f64>, draws: &[&[f64]]) -> Difference {
    let count = draws.first().map_or(0, |first| first.len());
    let means = (0..count).filter_map(|draw| mean(draws.iter().map(|draws| draws[draw])));
    Difference::new(mean(estimates).unwrap_or(0.0), means.collect())
}
