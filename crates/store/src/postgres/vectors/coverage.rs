//! Counting the passages that a model covers.
//!
//! Counting a large namespace takes seconds, so publishing keeps the counts of each state of a namespace for all servers.

use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::super::error::Failure;
use super::super::legs::Legs;
use super::super::select::{STORED, Selection};
use super::super::statement::Statement;
use crate::content::Model;
use crate::filter::Filter;
use crate::report::Coverage;

/// Keeps the counts of the namespaces `$1` for the state in which they are.
pub(in super::super) const KEEP: &str = "INSERT INTO coverages(namespace, model, number, change_number, embedded) \
     SELECT n.namespace, m.model, n.number, n.change_number, (SELECT count(*) FROM passages p JOIN vectors v \
       ON v.namespace = p.namespace AND v.text_hash = p.text_hash \
       WHERE p.namespace = n.namespace AND v.namespace = n.namespace AND v.model = m.model) \
     FROM namespaces n CROSS JOIN models m WHERE n.namespace = ANY($1) \
     ON CONFLICT (namespace, model) DO UPDATE SET number = excluded.number, change_number = excluded.change_number, \
       embedded = excluded.embedded";

impl Legs {
    /// Counts the selected passages that have a vector of a model.
    pub(in super::super) async fn coverage(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        filter: &Filter,
        selection: &Selection,
    ) -> Result<Coverage, Failure> {
        let passages = selection.count;
        let whole = Filter { namespaces: filter.namespaces.clone(), ..Filter::default() };
        let all = self.coverage_of_all(transaction, model, whole, selection).await?;
        // Where a model covers all passages, or none, the selected ones need not be counted.
        let embedded = match all {
            _ if selection.is_by_namespace() => all.embedded,
            all if all.embedded == all.passages => passages,
            all if all.embedded == 0 => 0,
            _ => embedded(transaction, model, |statement| selection.among(statement, STORED)).await?,
        };
        Ok(Coverage { passages, embedded })
    }

    /// The coverage of all passages of the namespaces.
    async fn coverage_of_all(
        &self,
        transaction: &Transaction<'_>,
        model: &Model,
        filter: Filter,
        selection: &Selection,
    ) -> Result<Coverage, Failure> {
        let scope = &selection.scope;
        let known =
            |(state, name, of): &(_, String, Filter)| *state == scope.state && *name == model.name && *of == filter;
        if let Some(coverage) = self.coverages.get(known) {
            return Ok(coverage);
        }
        let mut statement = Statement::new(
            "SELECT c.namespace, c.embedded FROM coverages c JOIN namespaces n ON n.namespace = c.namespace \
             AND n.number = c.number AND n.change_number = c.change_number WHERE c.model = ",
        );
        statement.bind(&model.number, Type::INT4).push(" AND c.namespace = ANY(").texts(&scope.namespaces);
        statement.push(") AND n.namespace = ANY(").texts(&scope.namespaces).push(")");
        let kept = statement.query(transaction).await?;
        let mut count: u64 = kept.iter().map(|row| row.get::<_, i64>(1) as u64).sum();
        if kept.len() < scope.namespaces.len() {
            let kept: Vec<&str> = kept.iter().map(|row| row.get(0)).collect();
            let others = scope.namespaces.iter().filter(|name| !kept.contains(&name.as_str())).cloned();
            let others: Vec<String> = others.collect();
            count += embedded(transaction, model, |statement| {
                statement.push("q.namespace = ANY(").texts(&others).push(")");
            })
            .await?;
        }
        let coverage = Coverage { passages: scope.total.passages, embedded: count };
        self.coverages.retain(|(state, name, of)| *name != model.name || *of != filter || *state == scope.state);
        self.coverages.push((scope.state.clone(), model.name.clone(), filter), coverage);
        Ok(coverage)
    }
}

/// Counts passages with a vector.
async fn embedded<'s>(
    transaction: &Transaction<'_>,
    model: &'s Model,
    restrict: impl FnOnce(&mut Statement<'s>),
) -> Result<u64, Failure> {
    let mut statement = Statement::new(
        "SELECT count(*) FROM passages q JOIN vectors v ON v.namespace = q.namespace \
        AND v.text_hash = q.text_hash WHERE v.model = ",
    );
    statement.bind(&model.number, Type::INT4).push(" AND ");
    restrict(&mut statement);
    Ok(statement.query(transaction).await?.first().map_or(0, |row| row.get::<_, i64>(0)) as u64)
}
