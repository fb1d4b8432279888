//! What both legs keep between searches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use deadpool_postgres::Transaction;

use super::error::Failure;
use super::resident::{Held, Resident};
use super::scope::{Scope, State};
use super::select::{Selection, resolve};
use super::sizes::Sizes;
use super::vectors::in_memory::{self as vectors, VectorsInMemory};
use super::words::in_memory::{self as words, WordsInMemory};
use crate::content::Model;
use crate::filter::Filter;
use crate::recent::Recent;
use crate::report::Coverage;

/// Results that later searches use again, and the sizes that decide how they are found.
#[derive(Debug, Default)]
pub(super) struct Legs {
    /// The selections of recent filters, by the state of their namespaces.
    pub selections: Recent<(State, Filter), Arc<Selection>>,
    /// The coverage of models under recent filters.
    pub coverages: Recent<(State, String, Filter), Coverage>,
    /// Vectors of passages.
    pub vectors: Resident<vectors::Key, VectorsInMemory>,
    /// Words of passages.
    pub words: Resident<words::Key, WordsInMemory>,
    /// The passage up to which all of a namespace had a vector of a model when they were last looked at, by their numbers.
    pub embedded: Mutex<HashMap<(i32, i32), i64>>,
    pub sizes: Sizes,
}

impl Legs {
    /// Resolves a filter, or returns a recent result.
    pub async fn selection(&self, transaction: &Transaction<'_>, filter: &Filter) -> Result<Arc<Selection>, Failure> {
        let scope = Scope::read(transaction, filter).await?;
        // Dates and attributes can change without a change number, and a filter by namespace costs nothing.
        if filter.is_by_properties() || filter.is_by_namespace() {
            return Ok(Arc::new(resolve(transaction, filter, scope, self.sizes).await?));
        }
        if let Some(known) = self.selections.get(|(state, of)| *state == scope.state && of == filter) {
            return Ok(known);
        }
        let state = scope.state.clone();
        self.selections.retain(|(known, of)| of != filter || *known == state);
        let selection = Arc::new(resolve(transaction, filter, scope, self.sizes).await?);
        self.selections.push((state, filter.clone()), selection.clone());
        Ok(selection)
    }

    /// The vectors of namespaces in memory, once read from the database: all of small ones, and those of a sample of large ones.
    pub async fn vectors(
        &self,
        transaction: &Transaction<'_>,
        scope: &Scope,
        model: &Model,
    ) -> Result<Held<VectorsInMemory>, Failure> {
        let catch_up = async |known| vectors::catch_up(transaction, scope, model, self.sizes, known).await;
        self.vectors.hold(vectors::key(scope, model), &scope.state, catch_up).await
    }
}
