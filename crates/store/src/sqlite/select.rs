//! Filters resolved against the database.

use rusqlite::{Connection, Row, ToSql, params_from_iter};

use super::catch_up::passage_id;
use super::{Database, TransactionError};
use crate::error::Result;
use crate::filter::{
    AttributeCondition, BitSet, DAY_NS, DateBound, Filter, PathGlobs, Selection, SymbolPatterns, folded,
};
use crate::record::{DocumentId, PassageRef};
use crate::sqlite::connection::{all, count, each, unsigned};

impl Database {
    /// Returns the passages that pass a filter. A filter that excludes nothing becomes "everything", which costs the retrievers
    /// nothing.
    pub(crate) fn resolve(&self, filter: &Filter) -> Result<Selection> {
        let globs = PathGlobs::new(&filter.path_globs)?;
        self.snapshot(|connection| {
            let total = count(connection, "SELECT coalesce(sum(passages), 0) FROM documents", [])?;
            let everything = Selection {
                namespaces: namespaces(connection, filter)?,
                whole: filter.is_by_namespace(),
                count: total,
                ..Selection::default()
            };
            if filter.is_empty() {
                return Ok(everything);
            }
            let mixed: bool = !filter.languages.is_empty()
                && count(connection, "SELECT EXISTS (SELECT 1 FROM passages WHERE language IS NOT NULL)", [])? == 1;
            let languages: &[String] = if mixed { &[] } else { &filter.languages };
            let documents = match filter.asks_of_documents() {
                true => documents(connection, filter, languages, &globs)?,
                false => Selection { count: everything.count, ..Selection::default() },
            };
            let selection = match filter.is_by_document() && !mixed {
                true => documents,
                false => passages(connection, filter, documents, everything.count)?,
            };
            Ok(if selection.count == everything.count {
                everything
            } else {
                Selection { namespaces: everything.namespaces, whole: everything.whole, ..selection }
            })
        })
    }

    /// Returns all selected passages, ascending.
    pub(crate) fn select(&self, selection: &Selection) -> Result<Vec<PassageRef>> {
        self.read(|connection| {
            let mut selected = Vec::new();
            each(connection, "SELECT passage, document FROM passages ORDER BY passage", [], |row| {
                let (passage, document) = (passage_id(row, 0)?, DocumentId(row.get(1)?));
                if selection.contains(passage, document) {
                    selected.push(PassageRef { passage, document });
                }
                Ok::<(), TransactionError>(())
            })?;
            Ok(selected)
        })
    }
}

/// The numbers of the filter's namespaces, ascending; `None` if it names none.
fn namespaces(connection: &Connection, filter: &Filter) -> Result<Option<Vec<u32>>, TransactionError> {
    if filter.namespaces.is_empty() {
        return Ok(None);
    }
    let (condition, values) = conditions(&[("namespace", &filter.namespaces)]);
    let select = format!("SELECT number FROM namespaces WHERE {condition} ORDER BY number");
    Ok(Some(all(connection, &select, params_from_iter(values), |row| row.get(0))?))
}

/// `column IN (?, ?)` for each column that the filter restricts, and the values.
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

/// Up to this many documents are looked up one by one. Beyond it, all documents are read.
const FEW_DOCUMENTS: usize = 1_000;

/// Selects documents by their properties; by language only where all passages have their document's language.
fn documents(
    connection: &Connection,
    filter: &Filter,
    languages: &[String],
    globs: &PathGlobs,
) -> Result<Selection, TransactionError> {
    let (condition, values) =
        conditions(&[("namespace", &filter.namespaces), ("collection", &filter.collections), ("language", languages)]);
    // Without globs the paths are not read, and an index alone answers a filter by namespace.
    let path = if filter.path_globs.is_empty() { "''" } else { "path" };
    let select = format!("SELECT document, passages, {path} FROM documents WHERE {condition}");
    let mut bits = BitSet::default();
    let mut count = 0;
    let mut take = |row: &Row<'_>| -> Result<(), TransactionError> {
        if globs.matches(row.get_ref(2)?.as_str()?) {
            bits.insert(unsigned(row, 0)?);
            count += unsigned(row, 1)?;
        }
        Ok(())
    };
    match with_attributes(connection, &filter.attributes)? {
        Some(known) if known.len() <= FEW_DOCUMENTS => {
            let select = format!("{select} AND document = ?");
            for id in &known {
                let values = values.iter().copied().chain([id as &dyn ToSql]);
                each(connection, &select, params_from_iter(values), &mut take)?;
            }
        }
        known => {
            each(connection, &select, params_from_iter(values), |row| {
                let id: i64 = row.get(0)?;
                match known.as_ref().is_none_or(|known| known.binary_search(&id).is_ok()) {
                    true => take(row),
                    false => Ok(()),
                }
            })?;
        }
    }
    Ok(Selection { documents: Some(bits), count, ..Selection::default() })
}

/// The documents that meet all conditions on attributes, ascending; `None` without conditions.
fn with_attributes(
    connection: &Connection,
    conditions: &[AttributeCondition],
) -> Result<Option<Vec<i64>>, TransactionError> {
    let mut known: Option<Vec<i64>> = None;
    for AttributeCondition { name, any_of } in conditions {
        let marks = vec!["?"; any_of.len()].join(", ");
        let select = format!("SELECT document FROM attributes WHERE name = ? AND folded IN ({marks})");
        let values = std::iter::once(name.clone()).chain(any_of.iter().map(|value| folded(value)));
        let mut having: Vec<i64> = all(connection, &select, params_from_iter(values), |row| row.get(0))?;
        having.sort_unstable();
        having.dedup();
        if let Some(known) = &known {
            having.retain(|document| known.binary_search(document).is_ok());
        }
        known = Some(having);
    }
    Ok(known)
}

/// The spellings of `authors` in the database.
fn spellings(connection: &Connection, authors: &[String]) -> Result<Vec<String>, TransactionError> {
    let wanted: Vec<String> = authors.iter().map(|author| folded(author)).collect();
    let mut spelled = Vec::new();
    each(connection, "SELECT DISTINCT author FROM passages WHERE author IS NOT NULL", [], |row| {
        let author = row.get_ref(0)?.as_str()?;
        if wanted.contains(&folded(author)) {
            spelled.push(author.to_owned());
        }
        Ok::<(), TransactionError>(())
    })?;
    Ok(spelled)
}

/// The date of a document, in the form that has an index.
const DOCUMENT_DATE: &str = "coalesce(d.dated_ns, nullif(d.modified_ns, 0))";

/// Selects passages of `documents` by their own properties. `total` counts the passages of all documents.
fn passages(
    connection: &Connection,
    filter: &Filter,
    documents: Selection,
    total: u64,
) -> Result<Selection, TransactionError> {
    let symbols = SymbolPatterns::new(&filter.symbols);
    let authors = spellings(connection, &filter.authors)?;
    if authors.is_empty() && !filter.authors.is_empty() {
        return Ok(Selection { passages: Some(BitSet::default()), ..Selection::default() });
    }
    let (condition, values) = conditions(&[
        ("coalesce(p.language, d.language)", &filter.languages),
        ("p.kind", &filter.kinds),
        ("p.role", &filter.roles),
        ("p.author", &authors),
    ]);
    let mut taken = BitSet::default();
    let mut count = 0;
    let mut take = |row: &Row<'_>| -> Result<(), TransactionError> {
        let (passage, document) = (passage_id(row, 0)?, DocumentId(row.get(1)?));
        let named = symbols.is_empty() || row.get_ref(2)?.as_str_or_null()?.is_some_and(|name| symbols.matches(name));
        if named && documents.contains(passage, document) && !taken.contains(passage.0) {
            taken.insert(passage.0);
            count += 1;
        }
        Ok(())
    };
    let symbol = if symbols.is_empty() { "NULL" } else { "p.symbol" };
    let select = format!("SELECT p.passage, p.document, {symbol} FROM");
    let joined = "passages p JOIN documents d ON d.document = p.document";
    let alone = if filter.languages.is_empty() { "passages p" } else { joined };
    let bounds = [(">=", &filter.dates.since), ("<", &filter.dates.until)];
    let bounds: Vec<(&str, &DateBound)> =
        bounds.into_iter().filter_map(|(compared, bound)| Some((compared, bound.as_ref()?))).collect();
    let dated = |date: &str| -> String {
        let bound = |(compared, DateBound { moment_ns, day_ns }): &(&str, &DateBound)| match day_ns == moment_ns {
            true => format!(" AND {date} {compared} ?"),
            false => format!(" AND iif({date} % {DAY_NS} = 0, {date} {compared} {day_ns}, {date} {compared} ?)"),
        };
        bounds.iter().map(bound).collect()
    };
    let values: Vec<&dyn ToSql> =
        values.into_iter().chain(bounds.iter().map(|(_, bound)| &bound.moment_ns as &dyn ToSql)).collect();

    let among = documents.documents.as_ref().filter(|_| documents.count.saturating_mul(8) <= total);
    if filter.ids.is_empty() && among.is_none() {
        let sources = match bounds.is_empty() {
            true => vec![format!("{alone} WHERE {condition}")],
            // Passages with a date of their own, then the others by their documents: each has an index.
            false => vec![
                format!("{alone} WHERE {condition} AND p.dated_ns IS NOT NULL{}", dated("p.dated_ns")),
                format!(
                    "documents d CROSS JOIN passages p ON p.document = d.document WHERE {condition} AND p.dated_ns IS NULL{}",
                    dated(DOCUMENT_DATE)
                ),
            ],
        };
        for source in sources {
            each(connection, &format!("{select} {source}"), params_from_iter(&values), &mut take)?;
        }
    } else {
        // Few enough to look up one by one: the passages asked for, or those of few documents.
        let (key, keys): (_, Vec<i64>) = match among {
            _ if !filter.ids.is_empty() => ("p.passage", filter.ids.iter().map(|id| id.0 as i64).collect()),
            among => ("p.document", among.into_iter().flat_map(BitSet::iter).map(|id| id as i64).collect()),
        };
        let dated = dated(&format!("coalesce(p.dated_ns, {DOCUMENT_DATE})"));
        let select = format!("{select} {joined} WHERE {condition}{dated} AND {key} = ?");
        for key in &keys {
            let values = values.iter().copied().chain([key as &dyn ToSql]);
            each(connection, &select, params_from_iter(values), &mut take)?;
        }
    }
    Ok(Selection { passages: Some(taken), count, ..Selection::default() })
}

impl Database {
    /// Returns the passages among `ids` that exist or are retired. Takes and returns them ascending.
    pub(crate) fn existing(&self, ids: &[u64]) -> Result<Vec<u64>> {
        self.snapshot(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT 1 FROM passages WHERE passage = ?1 UNION ALL SELECT 1 FROM retired WHERE passage = ?1",
            )?;
            let mut existing = Vec::with_capacity(ids.len());
            for &id in ids {
                if statement.exists([id as i64])? {
                    existing.push(id);
                }
            }
            Ok(existing)
        })
    }
}
