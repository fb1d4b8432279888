//! The plan of a search: the retrievers and the model that the state of the index allows, and the query's vector.

use tamis_embed::ModelInfo;
use tamis_store::{Coverage, Filter, LexicalQuery, StoreError};

use super::answer::joined;
use super::context::Context;
use super::query::Query;
use super::request::SearchRequest;
use crate::Error;
use crate::config::Mode;

/// The retrievers of a search, and the reasons why they differ from the requested ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The retrievers that take part.
    pub mode: Mode,
    /// The model of the semantic retriever, and its name in the configuration.
    pub model: Option<ModelInfo>,
    pub model_name: String,
    /// The query's vector under that model, if the model knows a word of the query.
    pub vector: Option<Vec<f32>>,
    /// The number of passages that match the filter, and of those that the model covers.
    pub coverage: Coverage,
    /// The reason why the mode or the model differs from the requested one.
    pub fallback_reason: Option<String>,
    /// The better models that do not cover all passages yet, with their coverage. Nobody asked for one of them by name.
    pub pending_model: Option<String>,
    /// The better models that could not be used, each with the reason.
    pub unusable: Vec<(String, String)>,
}

impl Plan {
    /// Returns the query of each retriever.
    pub fn queries<'a>(&'a self, text: &str, vector: Option<&'a [f32]>) -> RetrieverQueries<'a> {
        let semantic = self.model.as_ref().zip(vector);
        RetrieverQueries {
            lexical: self.mode.lexical().then(|| LexicalQuery::new(text)),
            semantic: semantic.map(|(model, vector)| SemanticQuery { model: &model.id, vector }),
        }
    }

    /// Drops a retriever that failed, and returns the reason.
    ///
    /// # Errors
    /// The other retriever is off, or it depends on what has failed.
    pub fn do_without(&mut self, failed: RetrieverError) -> Result<String, Error> {
        let other = match failed.retriever {
            Retriever::Lexical => self.vector.is_some(),
            Retriever::Semantic => self.mode.lexical(),
        };
        if !other || !failed.is_of_retriever_alone() {
            return Err(failed.into());
        }
        let error = failed.error;
        Ok(match failed.retriever {
            Retriever::Lexical => {
                self.mode = Mode::Semantic;
                format!("answered by meaning alone, since words could not be searched: {error}")
            }
            Retriever::Semantic => {
                let reason = self.fallback_reason.take();
                *self = std::mem::take(self).words_alone(reason);
                format!("answered by words alone, since vectors could not be searched: {error}")
            }
        })
    }

    /// Returns the plan without the semantic retriever.
    fn words_alone(self, fallback_reason: Option<String>) -> Self {
        Plan { mode: Mode::Lexical, model: None, vector: None, fallback_reason, ..self }
    }
}

/// Chooses the mode and the model that the state of the index allows, and embeds the query.
pub(crate) fn plan(
    context: &Context<'_>,
    request: &SearchRequest,
    query: &Query,
    filter: &Filter,
) -> Result<Plan, Error> {
    let mode = request.mode.unwrap_or(context.index.config.search.mode);
    let mut plan = Plan { mode, ..Plan::default() };
    if !mode.semantic() {
        plan.coverage.passages = context.index.store.coverage("", filter)?.passages;
        return Ok(plan);
    }
    loop {
        let covering = covering(context, filter, &mut plan.unusable)?;
        let (reason, pending_model) = (covering.fallback_reason(&plan.unusable), covering.pending_model());
        let Some((name, coverage)) = covering.best else {
            plan.coverage = context.index.store.coverage("", filter)?;
            return Ok(plan.words_alone(reason));
        };
        match context.index.embed_query(name, &query.text) {
            Ok((model, vector)) => {
                let (model, model_name) = (model.model().clone(), name.to_owned());
                plan = Plan { model_name, coverage, fallback_reason: reason, pending_model, ..plan };
                if !mode.lexical() || knows_a_word(&vector) {
                    return Ok(Plan { model: Some(model), vector: Some(vector), ..plan });
                }
                let unknown = Some(format!("{} knows no word of the query", model.id));
                // It may know words of other phrasings.
                return Ok(match query.variants.is_empty() {
                    true => plan.words_alone(unknown),
                    false => {
                        let fallback_reason = joined(plan.fallback_reason.take(), unknown);
                        Plan { model: Some(model), fallback_reason, ..plan }
                    }
                });
            }
            Err(Error::Model { model, reason }) => plan.unusable.push((model, reason)),
            Err(error) => return Err(error),
        }
    }
}

/// Returns the best model that covers the filtered passages, whose stored vectors are compared with each other, and the
/// reason if better ones are unusable or none covers all. Nothing is embedded, so its endpoint need not answer.
pub(crate) fn choose_model(
    context: &Context<'_>,
    filter: &Filter,
) -> Result<(Option<ModelInfo>, Option<String>), Error> {
    let mut unusable = Vec::new();
    let covering = covering(context, filter, &mut unusable)?;
    let reason = covering.fallback_reason(&unusable);
    let model = covering.best.map(|(name, _)| context.index.models.described(name)).transpose()?;
    Ok((model, reason))
}

/// Returns the best model that covers the filtered passages: the last one with all vectors, or else the one that covers most.
/// Models in `unusable` are skipped, and those that turn out to be unusable are added to it.
pub(crate) fn covering<'a>(
    context: &Context<'a>,
    filter: &Filter,
    unusable: &mut Vec<(String, String)>,
) -> Result<Covering<'a>, Error> {
    let asked = &context.index.config.search.model;
    let names: Vec<&String> =
        if asked == "auto" { context.index.config.index.models.iter().collect() } else { vec![asked] };
    let mut covering = Covering { automatic: asked == "auto", ..Covering::default() };
    for name in names.into_iter().rev() {
        if unusable.iter().any(|(one, _)| one == name) {
            continue;
        }
        let id = match context.index.models.id(name) {
            Err(Error::Model { model, reason }) => {
                unusable.push((model, reason));
                continue;
            }
            id => id?,
        };
        let coverage = context.index.store.coverage(&id, filter)?;
        if coverage.embedded == coverage.passages {
            covering.best = Some((name, coverage));
            break;
        }
        covering.lacking.push(format!("{name} covers {} of {} passages", coverage.embedded, coverage.passages));
        if coverage.embedded > covering.best.map_or(0, |(_, best)| best.embedded) {
            covering.best = Some((name, coverage));
        }
    }
    Ok(covering)
}

/// Returns `true` for the vector of a text of which the model knows a word.
pub(crate) fn knows_a_word(vector: &[f32]) -> bool {
    vector.iter().any(|&entry| entry != 0.0)
}

/// The model that covers a filter best, by name, and the gaps of each better one.
#[derive(Default)]
pub(crate) struct Covering<'a> {
    pub best: Option<(&'a str, Coverage)>,
    lacking: Vec<String>,
    /// True if no model was asked for by name.
    automatic: bool,
}

impl Covering<'_> {
    /// Returns the reason why better models did not take part: they are `unusable`, or do not cover all passages although one of
    /// them was asked for, or no model does.
    fn fallback_reason(&self, unusable: &[(String, String)]) -> Option<String> {
        let lacking = (!self.is_as_planned()).then(|| self.lacking()).flatten();
        let told = |(model, reason): &(String, String)| {
            Error::Model { model: model.clone(), reason: reason.clone() }.to_string()
        };
        let unusable = (!unusable.is_empty()).then(|| unusable.iter().map(told).collect::<Vec<_>>().join("; "));
        joined(unusable, lacking)
    }

    /// Returns the coverage of the better models that embed later while another one covers all passages.
    fn pending_model(&self) -> Option<String> {
        self.lacking().filter(|_| self.is_as_planned())
    }

    /// Returns `true` if a model covers all passages. Better ones embed in the background, so their gaps are no
    /// failure.
    fn is_as_planned(&self) -> bool {
        self.automatic && self.best.is_some_and(|(_, coverage)| coverage.embedded == coverage.passages)
    }

    fn lacking(&self) -> Option<String> {
        (!self.lacking.is_empty()).then(|| self.lacking.join(", "))
    }
}

/// The query of the semantic retriever.
pub(crate) struct SemanticQuery<'a> {
    pub model: &'a str,
    pub vector: &'a [f32],
}

/// The query of each retriever. A retriever without one takes no part.
pub(crate) struct RetrieverQueries<'a> {
    pub lexical: Option<LexicalQuery>,
    pub semantic: Option<SemanticQuery<'a>>,
}

/// One of the two retrievers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retriever {
    Lexical,
    Semantic,
}

/// A retriever that failed.
#[derive(Debug)]
pub(crate) struct RetrieverError {
    pub retriever: Retriever,
    pub error: StoreError,
}

impl RetrieverError {
    pub fn from_retriever(retriever: Retriever) -> impl Fn(StoreError) -> RetrieverError {
        move |error| RetrieverError { retriever, error }
    }

    /// Returns `true` if only this retriever fails. The common store is sound, so the other retriever can answer.
    pub fn is_of_retriever_alone(&self) -> bool {
        matches!(
            self.error,
            // Only an index that still has to be built needs space, the right to write, or its turn.
            StoreError::Unpublished { .. }
                | StoreError::Lexical { .. }
                | StoreError::Vectors { .. }
                | StoreError::Busy { .. }
                | StoreError::Full { .. }
                | StoreError::ReadOnly { .. }
                | StoreError::Io { .. }
        )
    }
}

impl From<RetrieverError> for StoreError {
    fn from(failed: RetrieverError) -> StoreError {
        failed.error
    }
}

impl From<RetrieverError> for crate::Error {
    fn from(failed: RetrieverError) -> crate::Error {
        failed.error.into()
    }
}
