//! The relevance prior of an index, from its past queries and from those that people judged.

use super::beliefs::Beliefs;
use super::judged_queries::{IMPORTED_JUDGEMENTS, JudgedQuery, heights, judged_queries};
use super::searcher::Searcher;
use crate::config::Mode;
use crate::handle::PriorKey;
use tamis_cut::{JudgedPool, Profile, Relevance};
use tamis_store::{RecordedSearch, UsageLog};

/// Past queries that make the profile.
pub(crate) const PAST_QUERIES: usize = 500;

/// Judged queries that are learnt from, the latest ones.
const JUDGED_QUERIES: usize = 200;

impl Searcher<'_> {
    /// What is believed before the query is looked at. A log that cannot be read says nothing.
    pub(crate) fn beliefs(&self, namespace: &str, model: Option<&str>, mode: Mode, scale: &str) -> Beliefs {
        if !self.index.config.telemetry.record {
            return Beliefs::default();
        }
        let Ok(log) = self.index.usage.log() else { return Beliefs::default() };
        let Ok(past) = log.profile(namespace, model, PAST_QUERIES) else { return Beliefs::default() };
        let profile = Profile::of(past.into_iter().map(|query| (query.focus, query.evidence)));
        let mut beliefs = Beliefs::from(&profile);
        beliefs.relevance = self.fitted(log, beliefs.relevance, namespace, model, mode, scale);
        beliefs
    }

    /// The relevance fitted to what people judged, with `prior` where they did not.
    fn fitted(
        &self,
        log: &UsageLog,
        prior: Relevance,
        namespace: &str,
        model: Option<&str>,
        mode: Mode,
        scale: &str,
    ) -> Relevance {
        let judgements = log.judgement_count().unwrap_or_default();
        if judgements.0 == 0 {
            return prior;
        }
        let key = PriorKey {
            judgements,
            namespace: namespace.to_owned(),
            model: model.map(str::to_owned),
            mode: mode.to_string(),
            scale: scale.to_owned(),
            prior: (prior.level * 100.0) as i64,
        };
        let mut fitted = self.index.fitted.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((known, relevance)) = fitted.as_ref()
            && *known == key
        {
            return *relevance;
        }
        let judged = log.judged().unwrap_or_default();
        let (queries, _) = judged_queries(&judged, |search| {
            let RecordedSearch { mode, model, scale, namespace, .. } = search;
            *mode == key.mode && *model == key.model && *scale == key.scale && *namespace == key.namespace
        });
        let latest = queries.len().saturating_sub(JUDGED_QUERIES);
        let pools: Vec<JudgedPool> = queries[latest..].iter().filter_map(pool).collect();
        let relevance = prior.fit(&pools);
        *fitted = Some((key, relevance));
        relevance
    }
}

/// A judged query as heights with judgements; `None` where its best candidate does not stand out.
fn pool(query: &JudgedQuery<'_>) -> Option<JudgedPool> {
    let heights = heights(query.search)?;
    // A collection that was judged elsewhere lists what is relevant; what it does not list is not. People say something
    // of what they looked at, and nothing of the rest.
    let unsaid = (query.search.entry_point == IMPORTED_JUDGEMENTS).then_some(false);
    let relevant = query.relevant(heights.len()).map(|relevant| relevant.or(unsaid)).collect();
    Some(JudgedPool { heights, relevant })
}
