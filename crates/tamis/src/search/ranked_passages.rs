//! The best candidates of a query, without an answer or a record of it.

use super::query::SearchRequest;
use super::searcher::Searcher;
use super::stopwatch::Stopwatch;
use crate::Error;
use tamis_store::StoredPassage;

impl Searcher<'_> {
    /// The first `depth` candidates of a query as a search orders them, before its cut.
    pub(crate) fn ranked_passages(&self, request: &SearchRequest, depth: usize) -> Result<Vec<StoredPassage>, Error> {
        request.check()?;
        let clock = &mut Stopwatch::start();
        let asked = request.asked(&self.index.config)?;
        let pool = self.depth(request, asked.rule());
        let (retrieved, passages) = self.retrieve(request, &self.filter(request), pool, clock)?;
        let decided = self.decide(&retrieved, passages, asked.rule(), None, clock)?;
        Ok(decided.ranked.into_iter().take(depth).map(|ranked| ranked.passage).collect())
    }
}
