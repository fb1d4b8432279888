//! Comparing a namespace on both sides: everything that is stored, not only counts.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use tamis_store::{DocumentId, EVIDENCE_COLLECTION, Namespace, NewDocument, Store, TextHash, WholeDocument};

use super::parts::is_same_registration;
use super::{Compared, ModelComparison, NamespaceComparison, parts};
use crate::Error;
use crate::progress::{Observer, Stage};

/// Values of two vectors that differ by less are equal: the destination may have its own, computed on a machine that rounds otherwise.
const ROUNDING: f32 = 3e-4;

/// Compares a namespace; `None` if the observer stopped it.
pub(crate) fn compare(
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
    parts::compare(from, to, name, &mut comparison)?;
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

// Documents of both sides, side by side, in batches that fit into memory.

/// Most documents of a batch, which is one transaction.
const DOCUMENTS: usize = 256;
/// A batch ends with the document that reaches this many passages.
const PASSAGES: u32 = 2_000;

/// A document of the source, and the one at its path at the destination.
pub(crate) struct Pair {
    pub from: WholeDocument,
    pub to: Option<WholeDocument>,
}

/// The documents of a namespace, by path.
pub(crate) struct Pairs<'s> {
    from: &'s dyn Store,
    to: &'s dyn Store,
    namespace: &'s str,
    /// The source's documents: number, number of passages, and the number at the destination.
    documents: Vec<(DocumentId, u32, Option<DocumentId>)>,
    /// The destination's documents at paths that the source does not have.
    pub kept: Vec<DocumentId>,
    done: usize,
}

impl<'s> Pairs<'s> {
    pub fn new(from: &'s dyn Store, to: &'s dyn Store, namespace: &'s str) -> Result<Self, Error> {
        let mut there: HashMap<String, DocumentId> =
            to.documents(namespace)?.into_iter().map(|state| (state.path, state.document)).collect();
        let documents = from.documents(namespace)?;
        let documents =
            documents.into_iter().map(|state| (state.document, state.passages, there.remove(&state.path))).collect();
        Ok(Pairs { from, to, namespace, documents, kept: there.into_values().collect(), done: 0 })
    }

    /// The number of the source's documents.
    pub fn len(&self) -> u64 {
        self.documents.len() as u64
    }

    /// The next batch; empty at the end. A document that was deleted meanwhile is left out.
    pub fn next(&mut self) -> Result<Vec<Pair>, Error> {
        loop {
            let rest = self.documents.get(self.done..).unwrap_or_default();
            let mut passages = 0;
            let full = rest.iter().take(DOCUMENTS).position(|document| {
                passages += document.1;
                passages >= PASSAGES
            });
            let batch = &rest[..full.map_or(rest.len().min(DOCUMENTS), |last| last + 1)];
            if batch.is_empty() {
                return Ok(Vec::new());
            }
            let from: Vec<DocumentId> = batch.iter().map(|document| document.0).collect();
            let to: Vec<DocumentId> = batch.iter().filter_map(|document| document.2).collect();
            let found = self.to.whole_documents(self.namespace, &to)?.into_iter().flatten();
            let mut there: HashMap<DocumentId, WholeDocument> = found.map(|whole| (whole.document, whole)).collect();
            let whole = self.from.whole_documents(self.namespace, &from)?;
            let pairs: Vec<Pair> = whole
                .into_iter()
                .zip(batch)
                .filter_map(|(from, (_, _, to))| Some(Pair { from: from?, to: to.and_then(|to| there.remove(&to)) }))
                .collect();
            self.done += batch.len();
            if !pairs.is_empty() {
                return Ok(pairs);
            }
        }
    }
}

impl Pair {
    /// True if it belongs to the evidence graph.
    pub fn is_evidence(&self) -> bool {
        self.from.content.collection == EVIDENCE_COLLECTION
    }

    /// True if the destination has the document with the same content.
    pub fn is_equal(&self) -> bool {
        self.to.as_ref().is_some_and(|to| same(&self.from.content, &to.content))
    }

    /// True if the document has to be written. The store itself gives documents of the evidence the tasks that their edges
    /// lead to, and the edges may still be missing.
    pub fn is_to_write(&self) -> bool {
        let Some(to) = &self.to else { return true };
        if same(&self.from.content, &to.content) {
            return false;
        }
        !self.is_evidence() || !same(&without_tasks(&self.from.content), &without_tasks(&to.content))
    }
}

fn without_tasks(document: &NewDocument) -> NewDocument {
    let mut document = document.clone();
    document.attributes.retain(|attribute| attribute.name != "task");
    document
}

/// True if a store that holds no NUL would hold both in the same way.
fn same(a: &NewDocument, b: &NewDocument) -> bool {
    a == b || plain(a) == plain(b)
}

/// The document as every store can hold it.
fn plain(document: &NewDocument) -> NewDocument {
    let mut document = document.clone();
    let replace = |text: &mut String| {
        if let Cow::Owned(replaced) = storable(text) {
            *text = replaced;
        }
    };
    let texts = [&mut document.title, &mut document.note, &mut document.record, &mut document.severity];
    texts.into_iter().flatten().for_each(replace);
    document.attributes.iter_mut().for_each(|attribute| replace(&mut attribute.value));
    for passage in &mut document.passages {
        let optional = [
            &mut passage.symbol, &mut passage.signature, &mut passage.heading, &mut passage.context,
            &mut passage.author,
        ];
        optional.into_iter().flatten().for_each(replace);
        replace(&mut passage.text);
        replace(&mut passage.embedded_text);
        // A language of its own that is the document's is none.
        passage.language = passage.language.take().filter(|own| Some(own) != document.language.as_ref());
    }
    document
}

fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}
