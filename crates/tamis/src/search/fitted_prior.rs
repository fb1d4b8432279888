//! The model of where relevance ends in a list of scores: built in, and fitted to the labelled queries. Queries without a label move
//! nothing. Searches of memories and replays read it; all other searches weigh the evidence on each entry.

use super::judged_queries::{IMPORTED_JUDGEMENTS, JudgedQuery, OPENED_QUERIES, labelled_queries, normalized_scores};
use super::searcher::Searcher;
use super::text_kind::kind_of;
use crate::config::Mode;
use crate::handle::PriorKey;
use tamis_cut::{JudgedPool, Relevance};
use tamis_store::{RecordedSearch, ScoringKey};

impl Searcher<'_> {
    /// Returns `true` if labels move the cut.
    pub(super) fn learns(&self) -> bool {
        self.index.config.telemetry.record && self.index.config.search.learn
    }

    /// Returns the model for searches of this kind. If the log cannot be read, it is the built-in one.
    pub(crate) fn relevance(
        &self,
        namespace: &str,
        model: Option<&str>,
        mode: Mode,
        scoring: &ScoringKey,
    ) -> Relevance {
        let prior = Relevance::of(kind_of(scoring));
        if !self.learns() {
            return prior;
        }
        let Ok(log) = self.index.usage.log() else { return prior };
        let labels = log.label_version().unwrap_or_default();
        if labels.is_empty() {
            return prior;
        }
        let key = PriorKey {
            labels,
            namespace: namespace.to_owned(),
            model: model.map(str::to_owned),
            mode: mode.to_string(),
            scoring: scoring.clone(),
        };
        let mut fitted = self.index.fitted.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((known, relevance)) = fitted.as_ref()
            && *known == key
        {
            return *relevance;
        }
        let judged = log.judged().unwrap_or_default();
        let reads_openings = self.index.config.telemetry.opened;
        let opened = if reads_openings { log.opened(2 * OPENED_QUERIES).unwrap_or_default() } else { Vec::new() };
        let queries = labelled_queries(&judged, &opened, |search| {
            let RecordedSearch { mode, model, scoring, namespace, .. } = search;
            *mode == key.mode && *model == key.model && *scoring == key.scoring && *namespace == key.namespace
        });
        let pools: Vec<JudgedPool> = queries.iter().filter_map(pool).collect();
        let relevance = prior.fit(&pools);
        *fitted = Some((key, relevance));
        relevance
    }
}

/// Returns a labelled query as normalized scores with judgements; `None` if its best candidate does not stand out.
fn pool(query: &JudgedQuery<'_>) -> Option<JudgedPool> {
    let normalized_scores = normalized_scores(query.search)?;
    // A test collection lists its relevant documents, so all others are not relevant. People judge only the results that they
    // looked at, and say nothing about the rest.
    let unsaid = (query.search.entry_point == IMPORTED_JUDGEMENTS).then_some(false);
    let relevant = query.relevant(normalized_scores.len()).map(|relevant| relevant.or(unsaid)).collect();
    Some(JudgedPool { normalized_scores, relevant, weight: query.weight })
}
