//! Names the filters that leave a search nothing to look at, and the values that would leave something.

use std::collections::BTreeSet;

use tamis_store::DocumentState;

use super::context::{Context, Scope, scope_of};
use super::query::filter_of;
use super::request::{SearchFilters, SearchRequest};
use crate::Error;
use crate::collections::SKIPPED;

/// Explains which filters of a request nothing passes; `None` if it has none, or if there is nothing to search without them.
pub(super) fn unmatched_filters(context: &Context<'_>, request: &SearchRequest) -> Result<Option<String>, Error> {
    let scope = scope_of(context, request)?;
    let passing = |request: &SearchRequest| -> Result<u64, Error> {
        let filter = scope.of_all(&filter_of(context, request)?);
        Ok(context.index.store.coverage("", &filter)?.passages)
    };
    let none = SearchRequest { memory: request.memory, ..SearchRequest::new(&request.query) };
    if passing(&none)? == 0 {
        return Ok(None);
    }
    type Field = fn(&mut SearchFilters) -> &mut Vec<String>;
    let lists: [(&str, Field); 6] = [
        ("path", |filters| &mut filters.paths),
        ("language", |filters| &mut filters.languages),
        ("collection", |filters| &mut filters.collections),
        ("kind", |filters| &mut filters.kinds),
        ("role", |filters| &mut filters.roles),
        ("symbol", |filters| &mut filters.symbols),
    ];
    let (mut given, mut unmatched) = (Vec::new(), Vec::new());
    for (name, field) in lists {
        let values = std::mem::take(field(&mut request.filters.clone()));
        if values.is_empty() {
            continue;
        }
        let shown = format!("{name} {}", values.join(", "));
        let mut alone = none.clone();
        *field(&mut alone.filters) = values;
        if passing(&alone)? == 0 {
            let rest = match name {
                "language" => here(context, &scope, "languages", |one| one.description.language)?,
                "collection" => here(context, &scope, "collections", |one| Some(one.collection))?,
                "symbol" => "; a symbol is a whole name (Store::open), its last part (open), or a prefix (op*)".into(),
                _ => String::new(),
            };
            unmatched.push(format!("nothing has the {shown}{rest}"));
        }
        given.push(shown);
    }
    let metadata = &request.filters.metadata;
    if !metadata.is_empty() {
        let names = metadata.given().join(", ");
        if passing(&none.metadata(metadata.clone()))? == 0 {
            unmatched.push(format!("nothing matches {names}; what has no such field is left out too"));
        }
        given.push(names);
    }
    Ok(match (unmatched.is_empty(), given.len()) {
        (false, _) => Some(unmatched.join("; ")),
        (true, 2..) => {
            Some(format!("each filter matches something, but nothing matches all of them: {}", given.join("; ")))
        }
        (true, _) => None,
    })
}

/// The values that a field has in the namespaces of the search, which are those that the caller may read.
fn here(
    context: &Context<'_>,
    scope: &Scope,
    what: &str,
    field: fn(DocumentState) -> Option<String>,
) -> Result<String, Error> {
    let mut values = BTreeSet::new();
    for namespace in &scope.names {
        let documents = context.index.store.documents(namespace)?.into_iter();
        values.extend(documents.filter(|one| one.passages > 0 && one.collection != SKIPPED).filter_map(field));
    }
    Ok(format!("; the {what} here are {}", values.into_iter().collect::<Vec<_>>().join(", ")))
}
