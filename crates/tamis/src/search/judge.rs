//! The place of a judge: a model that reads the query and a passage together and says whether one answers the other.

use super::candidate::Ranked;
use super::searcher::Searcher;
use std::fmt::Debug;
use tamis_cut::Judgements;

/// A model that reads a query and a passage together, such as a cross-encoder.
///
/// A search asks it about its first entries and decides by its probabilities together with the scores
/// ([`Judgements`](tamis_cut::Judgements)). Give one to an index with
/// [`IndexBuilder::judge`](crate::handle::IndexBuilder::judge).
///
/// ```
/// use std::sync::Arc;
/// use tamis::Index;
/// use tamis::search::{Judge, JudgedPassage};
///
/// /// Takes a passage for an answer if it has every word of the query.
/// #[derive(Debug)]
/// struct EveryWord;
///
/// impl Judge for EveryWord {
///     fn name(&self) -> &str {
///         "every-word"
///     }
///
///     fn judge(&self, query: &str, passages: &[JudgedPassage<'_>]) -> Result<Vec<Option<f64>>, String> {
///         let has_all = |text: &str| query.split(' ').all(|word| text.contains(word));
///         Ok(passages.iter().map(|passage| Some(if has_all(passage.text) { 0.9 } else { 0.1 })).collect())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven before baking bread.\n")?;
/// # std::fs::write(directory.path().join("bread.md"), "# Bread\n\nKneed the bread dough for ten minutes.\n")?;
/// let index = Index::builder(directory.path()).set("index.models", "static").judge(Arc::new(EveryWord)).open()?;
/// index.refresh()?;
/// let answer = index.search("oven bread")?;
/// assert_eq!(answer.results[0].path, "oven.md");
/// assert_eq!(answer.cut.diagnostics["judge"], "every-word");
/// # Ok(())
/// # }
/// ```
pub trait Judge: Debug + Send + Sync {
    /// The judge's name, for explanations and records: judgements under one judge do not teach searches under another.
    fn name(&self) -> &str;

    /// The number of first entries that it reads.
    fn depth(&self) -> usize {
        20
    }

    /// The weight of its order, if it compares the passages of one list better than it knows how many of them are relevant
    /// ([`Judgements::comparing`](tamis_cut::Judgements::comparing)). `None`: its probabilities hold for every collection.
    fn comparing(&self) -> Option<f64> {
        None
    }

    /// Returns, for each passage, the probability from 0 to 1 that it answers the query, as if half of all passages did.
    /// `None`: no opinion.
    ///
    /// # Errors
    /// A short reason. The search is then decided by scores alone, with a warning.
    fn judge(&self, query: &str, passages: &[JudgedPassage<'_>]) -> Result<Vec<Option<f64>>, String>;

    /// The judgements that its probabilities stand for, in the order of the passages.
    fn judgements(&self, probabilities: Vec<Option<f64>>) -> Judgements {
        let judgements = Judgements::new(probabilities);
        match self.comparing() {
            Some(weight) => judgements.comparing(weight),
            None => judgements,
        }
    }
}

/// A passage as a judge reads it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JudgedPassage<'a> {
    /// Path of its document.
    pub path: &'a str,
    /// The document's title.
    pub title: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
}

impl<'a> JudgedPassage<'a> {
    /// A passage without a title.
    pub fn new(path: &'a str, text: &'a str) -> Self {
        JudgedPassage { path, title: None, text }
    }
}

impl Searcher<'_> {
    /// Asks a judge about the first of these entries, and notes its probabilities. The second value is a warning.
    pub(super) fn judgements(
        &self,
        judge: &dyn Judge,
        query: &str,
        entries: &mut [Ranked],
    ) -> (Option<Judgements>, Option<String>) {
        let depth = entries.len().min(judge.depth());
        let first = &entries[..depth];
        let passages: Vec<JudgedPassage<'_>> = first
            .iter()
            .map(|Ranked { passage, .. }| JudgedPassage {
                path: &passage.path,
                title: passage.title.as_deref(),
                text: &passage.text,
            })
            .collect();
        match judge.judge(query, &passages) {
            Ok(mut probabilities) => {
                probabilities.truncate(depth);
                for (entry, probability) in entries[..depth].iter_mut().zip(&probabilities) {
                    entry.judged = *probability;
                }
                (Some(judge.judgements(probabilities)), None)
            }
            Err(reason) => (None, Some(format!("decided without {}: {reason}", judge.name()))),
        }
    }
}
