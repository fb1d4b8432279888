//! The symbols of a language, in an order that depends only on the tree: by namespace, path and position in the file.
//! The store's own numbers depend on the order of indexing.

use crate::Error;
use crate::config::threshold_language;
use std::collections::HashMap;
use tamis_store::{DocumentId, Filter, PassageId, Store};
use tamis_text::{Kind, LANGUAGES};

/// The number of passages whose vectors are read at a time.
const PASSAGES_A_LOOK: usize = 4096;

/// Kinds of passage that are symbols: neither prose nor the code between symbols.
const KINDS: [Kind; 6] = [Kind::Function, Kind::Method, Kind::Type, Kind::Trait, Kind::Constant, Kind::Macro];

/// The position of each document in the order.
pub(super) struct Documents(HashMap<DocumentId, usize>);

impl Documents {
    pub(super) fn read(store: &dyn Store) -> Result<Self, Error> {
        let mut places = HashMap::new();
        for namespace in store.namespaces()? {
            for document in store.documents(&namespace.name)? {
                let place = places.len();
                places.insert(document.document, place);
            }
        }
        Ok(Documents(places))
    }
}

/// The calibrated languages by name, each with the languages that share its threshold.
pub(super) fn groups() -> Vec<(&'static str, Vec<String>)> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for language in LANGUAGES.iter().filter(|language| language.has_symbols()) {
        let name = threshold_language(language.name);
        match groups.iter_mut().find(|(group, _)| *group == name) {
            Some((_, members)) => members.push(language.name.to_owned()),
            None => groups.push((name, vec![language.name.to_owned()])),
        }
    }
    groups.sort_unstable();
    groups
}

/// A filter for all symbols of these languages.
pub(super) fn filter(languages: &[String]) -> Filter {
    let kinds = KINDS.iter().map(|kind| kind.as_str().to_owned()).collect();
    Filter { languages: languages.to_vec(), kinds, ..Filter::default() }
}

/// The symbols of a language that a model has vectors of.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// Passages in order, file after file.
    pub(super) passages: Vec<PassageId>,
    /// The number of symbols in each file.
    pub(super) sizes: Vec<usize>,
    /// The number of further symbols without a vector of the model.
    pub(super) without_vector: u64,
}

impl Symbols {
    pub(super) fn read(store: &dyn Store, documents: &Documents, filter: &Filter, model: &str) -> Result<Self, Error> {
        let selected = store.select(filter)?;
        // Documents added since the listing are left out.
        let mut placed: Vec<(usize, PassageId)> =
            selected.iter().filter_map(|found| Some((*documents.0.get(&found.document)?, found.passage))).collect();
        // Within a file the store numbers passages in their order.
        placed.sort_unstable();
        let coverage = store.coverage(model, filter)?;
        if coverage.embedded < coverage.passages {
            placed = with_vector(store, model, placed)?;
        }
        Ok(Symbols {
            sizes: placed.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).collect(),
            without_vector: (selected.len() - placed.len()) as u64,
            passages: placed.into_iter().map(|(_, passage)| passage).collect(),
        })
    }
}

/// The symbols that have a vector.
fn with_vector(
    store: &dyn Store,
    model: &str,
    placed: Vec<(usize, PassageId)>,
) -> Result<Vec<(usize, PassageId)>, Error> {
    let mut kept = Vec::with_capacity(placed.len());
    for some in placed.chunks(PASSAGES_A_LOOK) {
        let ids: Vec<PassageId> = some.iter().map(|(_, passage)| *passage).collect();
        let vectors = store.vectors(model, &[], &ids)?;
        kept.extend(some.iter().zip(vectors).filter(|(_, vector)| vector.is_some()).map(|(placed, _)| *placed));
    }
    Ok(kept)
}

/// The cosine similarities of pairs of symbols, in their order; NaN for a pair that has lost a vector since.
pub(super) fn similarities(
    store: &dyn Store,
    model: &str,
    symbols: &Symbols,
    pairs: &[(usize, usize)],
) -> Result<Vec<f64>, Error> {
    let mut places: Vec<usize> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    places.sort_unstable();
    places.dedup();
    let ids: Vec<PassageId> = places.iter().map(|&place| symbols.passages[place]).collect();
    let vectors: HashMap<usize, Option<Vec<f32>>> = places.into_iter().zip(store.vectors(model, &[], &ids)?).collect();
    let vector = |place: usize| vectors.get(&place).and_then(Option::as_deref);
    let similarity = |&(a, b): &(usize, usize)| match (vector(a), vector(b)) {
        // Vectors are of length one.
        (Some(a), Some(b)) => a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum(),
        _ => f64::NAN,
    };
    Ok(pairs.iter().map(similarity).collect())
}
