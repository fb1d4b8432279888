//! Comparing a namespace on both sides: everything that is stored, not only counts.

use super::evidence;
use super::pairs::{Pair, Pairs};
use super::report::{Compared, ModelComparison, NamespaceComparison};
use super::settings::is_same_registration;
use crate::Error;
use crate::progress::{Observer, Stage};
use std::collections::{HashMap, HashSet};
use tamis_store::{Namespace, Store, TextHash};

/// Values of two vectors that differ by less are equal: the destination may have its own, computed on a machine that rounds otherwise.
const ROUNDING: f32 = 3e-4;

/// Compares a namespace; `None` if the observer stopped it.
pub(super) fn compare(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &Namespace,
    observer: &dyn Observer,
) -> Result<Option<NamespaceComparison>, Error> {
    let name = namespace.name.as_str();
    let known = to.namespaces()?.into_iter().find(|known| known.name == name);
    let mut pairs = Pairs::new(from, to, name)?;
    let mut comparison = NamespaceComparison {
        name: name.to_owned(),
        same_registration: known.as_ref().is_some_and(|known| is_same_registration(namespace, known)),
        kept: pairs.kept.len() as u64,
        ..NamespaceComparison::default()
    };
    comparison.documents.to = known.as_ref().map_or(0, |known| known.documents);
    comparison.passages.to = known.as_ref().map_or(0, |known| known.passages);
    if !comparison.same_registration {
        comparison.name_difference(|| format!("the registration of {name}"));
    }
    let models = from.models()?;
    comparison.vectors =
        models.iter().map(|model| ModelComparison { model: model.id.clone(), vectors: Compared::default() }).collect();
    observer.stage(Stage::Compare(name.to_owned()), pairs.len());
    let mut texts = Texts::default();
    loop {
        if observer.cancelled() {
            return Ok(None);
        }
        let batch = pairs.next()?;
        if batch.is_empty() {
            break;
        }
        for pair in &batch {
            compare_document(pair, &mut comparison);
        }
        let new = texts.add(&batch);
        for place in 0..models.len() {
            compare_vectors(from, to, name, &new, place, &mut comparison)?;
        }
        observer.advance(batch.len() as u64);
    }
    comparison.texts = Compared {
        from: texts.from.len() as u64,
        to: texts.to.len() as u64,
        different: texts.from.iter().filter(|(_, there)| there.is_none()).count() as u64,
    };
    evidence::compare(from, to, name, &mut comparison)?;
    // A model without vectors in this namespace is another one's.
    comparison.vectors.retain(|model| model.vectors != Compared::default());
    Ok(Some(comparison))
}

/// The different texts of both sides.
#[derive(Default)]
struct Texts {
    /// Those of the source, each with that of the destination.
    from: HashMap<TextHash, Option<TextHash>>,
    to: HashSet<TextHash>,
}

impl Texts {
    /// Adds the texts of documents, and returns those that are new.
    fn add(&mut self, batch: &[Pair]) -> Vec<(TextHash, Option<TextHash>)> {
        let mut new = Vec::new();
        for pair in batch {
            let same = pair.to.as_ref().filter(|to| to.keys.len() == pair.from.keys.len());
            self.to.extend(pair.to.iter().flat_map(|to| &to.keys).map(|key| key.text_hash));
            for (place, key) in pair.from.keys.iter().enumerate() {
                let embedded = |content: &tamis_store::NewDocument| content.passages[place].embedded_text.clone();
                let there = same
                    .filter(|to| {
                        to.keys[place].text_hash == key.text_hash
                            || embedded(&to.content).replace('\0', "\u{fffd}")
                                == embedded(&pair.from.content).replace('\0', "\u{fffd}")
                    })
                    .map(|to| to.keys[place].text_hash);
                if let std::collections::hash_map::Entry::Vacant(unknown) = self.from.entry(key.text_hash) {
                    unknown.insert(there);
                    new.push((key.text_hash, there));
                }
            }
        }
        new
    }
}

fn compare_document(pair: &Pair, comparison: &mut NamespaceComparison) {
    let path = &pair.from.content.path;
    let passages = pair.from.content.passages.len() as u64;
    comparison.documents.from += 1;
    comparison.passages.from += passages;
    if !pair.is_equal() {
        comparison.documents.different += 1;
        comparison.passages.different += passages;
        comparison.name_difference(|| path.clone());
        return;
    }
    let ids = |keys: &[tamis_store::PassageKey]| keys.iter().map(|key| key.id.clone()).collect::<Vec<_>>();
    let there = pair.to.as_ref().map(|to| ids(&to.keys)).unwrap_or_default();
    let renamed = ids(&pair.from.keys).iter().zip(&there).filter(|(a, b)| a != b).count() as u64;
    if renamed > 0 {
        comparison.passages.different += renamed;
        comparison.name_difference(|| format!("the identifiers of passages of {path}"));
    }
}

fn compare_vectors(
    from: &dyn Store,
    to: &dyn Store,
    namespace: &str,
    texts: &[(TextHash, Option<TextHash>)],
    place: usize,
    comparison: &mut NamespaceComparison,
) -> Result<(), Error> {
    let model = comparison.vectors[place].model.clone();
    let sources: Vec<TextHash> = texts.iter().map(|(source, _)| *source).collect();
    let targets: Vec<TextHash> = texts.iter().map(|(source, target)| target.unwrap_or(*source)).collect();
    let vectors = from.text_vectors(namespace, &model, &sources)?;
    let there = to.text_vectors(namespace, &model, &targets)?;
    let mut different = 0;
    let compared = &mut comparison.vectors[place].vectors;
    for (here, there) in vectors.iter().zip(&there) {
        compared.from += u64::from(here.is_some());
        compared.to += u64::from(there.is_some());
        let Some(here) = here else { continue };
        let is_same = there.as_ref().is_some_and(|there| {
            here.len() == there.len() && here.iter().zip(there).all(|(a, b)| (a - b).abs() < ROUNDING)
        });
        different += u64::from(!is_same);
    }
    compared.different += different;
    if different > 0 {
        comparison.name_difference(|| match different {
            1 => format!("1 vector of {model}"),
            _ => format!("{different} vectors of {model}"),
        });
    }
    Ok(())
}
