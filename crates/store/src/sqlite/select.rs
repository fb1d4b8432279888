//! Filters resolved against the database.

use rusqlite::{Connection, Row, ToSql, params_from_iter};

use super::{Database, Fault};
use crate::error::Result;
use crate::filter::{AttributeCondition, BitSet, Filter, PathGlobs, Selection};
use crate::record::{DocumentId, PassageId, PassageRef};
use crate::symbols::SymbolPatterns;

impl Database {
    /// Which passages pass a filter. What turns out to be all of them is everything, and costs the legs nothing.
    pub(crate) fn resolve(&self, filter: &Filter) -> Result<Selection> {
        let globs = PathGlobs::new(&filter.path_globs)?;
        self.snapshot(|connection| {
            let total: i64 = connection
                .prepare_cached("SELECT coalesce(sum(passages), 0) FROM documents")?
                .query_row([], |row| row.get(0))?;
            let everything = Selection {
                namespaces: namespaces(connection, filter)?,
                whole: filter.is_by_namespace(),
                count: total as u64,
                ..Selection::default()
            };
            if filter.is_empty() {
                return Ok(everything);
            }
            let mixed: bool = !filter.languages.is_empty()
                && connection
                    .prepare_cached("SELECT EXISTS (SELECT 1 FROM passages WHERE language IS NOT NULL)")?
                    .query_row([], |row| row.get(0))?;
            let languages: &[String] = if mixed { &[] } else { &filter.languages };
            let documents = documents(connection, filter, languages, &globs)?;
            let selection =
                if filter.is_by_document() && !mixed { documents } else { passages(connection, filter, documents)? };
            Ok(if selection.count == everything.count {
                everything
            } else {
                Selection { namespaces: everything.namespaces, whole: everything.whole, ..selection }
            })
        })
    }

    /// All passages that pass, ascending.
    pub(crate) fn select(&self, selection: &Selection) -> Result<Vec<PassageRef>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT id, document FROM passages ORDER BY id")?;
            let mut rows = statement.query([])?;
            let mut selected = Vec::new();
            while let Some(row) = rows.next()? {
                let passage = PassageId(row.get::<_, i64>(0)? as u64);
                let document = DocumentId(row.get(1)?);
                if selection.contains(passage, document) {
                    selected.push(PassageRef { passage, document });
                }
            }
            Ok(selected)
        })
    }
}

/// The numbers of the filter's namespaces, ascending, where it names any.
fn namespaces(connection: &Connection, filter: &Filter) -> Result<Option<Vec<u32>>, Fault> {
    if filter.namespaces.is_empty() {
        return Ok(None);
    }
    let (condition, values) = conditions(&[("name", &filter.namespaces)]);
    let mut statement = connection.prepare(&format!("SELECT id FROM namespaces WHERE {condition} ORDER BY id"))?;
    let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
    Ok(Some(rows.collect::<rusqlite::Result<_>>()?))
}

/// `column IN (?, ?)` for each column that the filter restricts, with the values.
fn conditions<'f>(columns: &[(&str, &'f [String])]) -> (String, Vec<&'f dyn ToSql>) {
    let mut sql = String::from("1");
    let mut values: Vec<&dyn ToSql> = Vec::new();
    for (column, allowed) in columns.iter().filter(|(_, allowed)| !allowed.is_empty()) {
        let marks = vec!["?"; allowed.len()].join(", ");
        sql.push_str(&format!(" AND {column} IN ({marks})"));
        values.extend(allowed.iter().map(|value| value as &dyn ToSql));
    }
    (sql, values)
}

/// Documents by what is known of them; by their language only where that is the language of all their passages.
fn documents(
    connection: &Connection,
    filter: &Filter,
    languages: &[String],
    globs: &PathGlobs,
) -> Result<Selection, Fault> {
    let (condition, values) =
        conditions(&[("namespace", &filter.namespaces), ("collection", &filter.collections), ("language", languages)]);
    // Without globs the paths are not read, and where namespaces alone decide an index has all that is.
    let path = if filter.path_globs.is_empty() { "''" } else { "path" };
    let (known, asked) = attribute_conditions(&filter.attributes);
    let mut values = values;
    values.extend(asked.iter().map(|value| value as &dyn ToSql));
    let mut statement =
        connection.prepare(&format!("SELECT id, passages, {path} FROM documents WHERE {condition}{known}"))?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut bits = BitSet::default();
    let mut count = 0;
    while let Some(row) = rows.next()? {
        if globs.matches(row.get_ref(2)?.as_str()?) {
            bits.insert(row.get::<_, i64>(0)? as u64);
            count += row.get::<_, i64>(1)? as u64;
        }
    }
    Ok(Selection { documents: Some(bits), count, ..Selection::default() })
}

/// A condition on the document's `id` for each attribute, with the values.
fn attribute_conditions(conditions: &[AttributeCondition]) -> (String, Vec<String>) {
    let mut sql = String::new();
    let mut values = Vec::new();
    for AttributeCondition { name, any_of } in conditions {
        let marks = vec!["?"; any_of.len()].join(", ");
        sql.push_str(&format!(" AND id IN (SELECT document FROM attributes WHERE name = ? AND folded IN ({marks}))"));
        values.push(name.clone());
        values.extend(any_of.iter().map(|value| value.to_lowercase()));
    }
    (sql, values)
}

/// The date that a passage is filtered by.
const DATE: &str = "coalesce(p.dated_ns, d.dated_ns, nullif(d.modified_ns, 0))";

fn passages(connection: &Connection, filter: &Filter, documents: Selection) -> Result<Selection, Fault> {
    let symbols = SymbolPatterns::new(&filter.symbols);
    let (mut condition, mut values) = conditions(&[
        ("coalesce(p.language, d.language)", &filter.languages),
        ("p.kind", &filter.kinds),
        ("p.role", &filter.roles),
    ]);
    for (bound, compared) in [(&filter.since_ns, ">="), (&filter.until_ns, "<")] {
        if let Some(bound) = bound {
            condition.push_str(&format!(" AND {DATE} {compared} ?"));
            values.push(bound);
        }
    }
    let authors: Vec<String> = filter.authors.iter().map(|author| author.to_lowercase()).collect();
    let mut bits = BitSet::default();
    let mut count = 0;
    let mut take = |row: &Row<'_>| -> Result<(), Fault> {
        let (passage, document) = (PassageId(row.get::<_, i64>(0)? as u64), DocumentId(row.get(1)?));
        let named = symbols.is_empty() || row.get_ref(2)?.as_str_or_null()?.is_some_and(|name| symbols.matches(name));
        let written = authors.is_empty()
            || row.get_ref(3)?.as_str_or_null()?.is_some_and(|author| authors.contains(&author.to_lowercase()));
        if named && written && documents.contains(passage, document) && !bits.contains(passage.0) {
            bits.insert(passage.0);
            count += 1;
        }
        Ok(())
    };
    let from = "SELECT p.id, p.document, p.symbol, p.author FROM passages p JOIN documents d ON d.id = p.document";
    if filter.ids.is_empty() {
        let mut statement = connection.prepare(&format!("{from} WHERE {condition}"))?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            take(row)?;
        }
    } else {
        let mut statement = connection.prepare(&format!("{from} WHERE {condition} AND p.id = ?"))?;
        for id in &filter.ids {
            let id = id.0 as i64;
            let mut values = values.clone();
            values.push(&id);
            let mut rows = statement.query(params_from_iter(values))?;
            if let Some(row) = rows.next()? {
                take(row)?;
            }
        }
    }
    Ok(Selection { passages: Some(bits), count, ..Selection::default() })
}
