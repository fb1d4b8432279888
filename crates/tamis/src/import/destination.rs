//! Chooses the namespace and the origin of an import, and keeps two issue trackers out of one namespace.

use crate::Error;
use crate::config::is_name;
use crate::handle::Index;

/// The most characters of an origin.
const LONGEST_ORIGIN: usize = 500;

/// Returns the namespace for documents: the one named, which need not exist yet, or else the index's own.
pub(crate) fn namespace(index: &Index, named: Option<&str>) -> Result<String, Error> {
    match named {
        Some(name) if is_name(name) => Ok(name.to_owned()),
        Some(name) => {
            let allowed = "1 to 200 characters, none of them `:`, `/`, `\\` or a control character";
            Err(Error::argument("namespace", format!("{name:?}"), allowed))
        }
        None => index.own_namespace().map(str::to_owned).ok_or_else(|| {
            let names = index.namespace_names().unwrap_or_default().join(", ");
            let allowed = format!("named, since the index holds several ({names}): one of them or a new one");
            Error::argument("namespace", "none", allowed)
        }),
    }
}

/// Checks an origin and returns it in its stored form.
pub(crate) fn origin(given: &str) -> Result<&str, Error> {
    let name = given.trim();
    let fits = !name.is_empty() && name.chars().count() <= LONGEST_ORIGIN && !name.chars().any(char::is_control);
    match fits {
        true => Ok(name),
        false => {
            let allowed =
                format!("1 to {LONGEST_ORIGIN} characters that say where it came from, such as github:OWNER/REPO");
            Err(Error::argument("origin", format!("{given:?}"), allowed))
        }
    }
}

/// Makes sure that numbered documents in one collection of a namespace come from one origin. Otherwise issue 12 of one tracker
/// would replace that of another.
pub(crate) fn only_tracker(index: &Index, namespace: &str, collection: &str, origin: &str) -> Result<(), Error> {
    let here = |other: &&tamis_store::Origin| other.namespace == namespace && other.collection == collection;
    let Some(other) = index.store.origins()?.into_iter().find(|known| here(&known) && known.name != origin) else {
        return Ok(());
    };
    let allowed = format!(
        "{}, whose {} {collection} the namespace {namespace} holds: two trackers number alike. Another tracker goes to a \
         namespace of its own; if it is the same one, its origin is {}",
        other.name, other.documents, other.name
    );
    Err(Error::argument("origin", origin, allowed))
}

/// Returns the error for a document that would overwrite one of another origin.
pub(crate) fn held_by_another(path: &str, origin: &str, other: &str) -> Error {
    let allowed =
        format!("{other}, which {path} is from, if that is the same; else another namespace keeps the two apart");
    Error::argument("origin", origin, allowed)
}
