//! Documents as resources: listed page by page in a fixed order, and read as indexed. Nothing else can be read.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, CompletionInfo, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use tamis::Error;
use tamis_store::DocumentState;

use crate::operation::Call;
use crate::refusal_text::Refused;
use crate::untrusted_text::{clean, first, json_length, name};

/// Documents on a page of the list.
const PAGE_SIZE: usize = 200;

/// Most characters of a page of the list, as JSON.
const MAX_PAGE_CHARS: usize = 100_000;

/// Most characters of a resource. Clients read a message as a whole, and some accept at most a megabyte.
const MAX_TEXT_CHARS: usize = 150_000;

/// Most characters of a completion.
const MAX_COMPLETION_CHARS: usize = 1000;

/// Template of the addresses.
pub(crate) const TEMPLATE: &str = "tamis://{namespace}/{+path}";

/// Lists the documents after the one whose address is the cursor, by namespace and path. So a document that exists throughout
/// appears exactly once, whatever changes between two pages.
///
/// # Errors
/// The cursor is invalid, or the index cannot be read.
pub(crate) fn list(call: &Call<'_>, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let after = cursor.map(|cursor| {
        parse_uri(cursor).ok_or_else(|| invalid("cursor: does not come from this list; start again without one"))
    });
    let after = after.transpose()?;
    let mut resources: Vec<Resource> = Vec::new();
    let mut next = None;
    let mut room = MAX_PAGE_CHARS;
    'all: for namespace in namespaces(call)? {
        let after = match &after {
            Some((last, _)) if namespace < *last => continue,
            Some((last, path)) if namespace == *last => path.as_str(),
            _ => "",
        };
        for document in documents(call, &namespace)?.into_iter().filter(|document| document.path.as_str() > after) {
            let resource = resource(&document);
            let length = json_length(&resource);
            if resources.len() == PAGE_SIZE || (length > room && !resources.is_empty()) {
                next = resources.last().map(|last| last.uri.clone());
                break 'all;
            }
            room = room.saturating_sub(length);
            resources.push(resource);
        }
    }
    let mut page = ListResourcesResult::with_all_items(resources);
    page.next_cursor = next;
    Ok(page)
}

/// The template of the addresses, described for clients.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "document").with_title("Document").with_description(
        "A document as indexed: a file by its path under the root, an issue as issue:NUMBER, a claim as claim:ID. \
         The namespace is the repository or project named in results.",
    );
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// Reads a document.
///
/// # Errors
/// The document does not exist, or the caller may not read it; both give the same message.
pub(crate) fn read(call: &Call<'_>, wanted: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || {
        ErrorData::resource_not_found(format!("{wanted}: no such resource"), Some(serde_json::json!({ "uri": wanted })))
    };
    let (namespace, path) = parse_uri(wanted).ok_or_else(missing)?;
    let excerpt = match call.index.document_allowed(&namespace, &path, call.caller.namespaces.as_deref()) {
        Ok(excerpt) => excerpt,
        Err(Error::NotFound { .. }) => return Err(missing()),
        Err(error) => return Err(failed(call, error)),
    };
    call.note_opened(&excerpt, "mcp resource");
    let contents = ResourceContents::text(bounded(&excerpt.text, &namespace, &path), uri_of(&namespace, &path))
        .with_mime_type(mime_type(&path));
    Ok(ReadResourceResult::new(vec![contents]))
}

/// A text up to the limit of a resource, with a note on how to read the rest.
fn bounded(text: &str, namespace: &str, path: &str) -> String {
    let text = clean(text);
    let kept = first(&text, MAX_TEXT_CHARS);
    match text[kept.len()..].chars().count() {
        0 => text,
        more => {
            let line = kept.matches('\n').count() + 1;
            let id = name(&format!("{namespace}:{path}"));
            format!("{kept}\n[… {more} more characters: the tool get continues from line {line}, with id = {id:?}]\n")
        }
    }
}

/// Completes the value of a variable of the template.
///
/// # Errors
/// The index cannot be read.
pub(crate) fn complete(
    call: &Call<'_>,
    variable: &str,
    begun: &str,
    namespace: Option<&str>,
) -> Result<CompletionInfo, ErrorData> {
    let mut values: Vec<String> = Vec::new();
    for known in namespaces(call)? {
        match variable {
            "namespace" => values.push(known),
            "path" if namespace.is_none_or(|wanted| wanted == known) => {
                values.extend(documents(call, &known)?.into_iter().map(|document| document.path));
            }
            _ => {}
        }
    }
    // A name with hidden characters or line ends has no faithful completion; the list gives its address.
    values.retain(|value| {
        value.starts_with(begun) && name(value) == **value && value.chars().count() < MAX_COMPLETION_CHARS
    });
    values.sort();
    values.dedup();
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::new(values).map_err(invalid)?;
    info.total = u32::try_from(total).ok();
    info.has_more = Some(total > CompletionInfo::MAX_VALUES);
    Ok(info)
}

/// The namespaces that the caller may read, sorted.
fn namespaces(call: &Call<'_>) -> Result<Vec<String>, ErrorData> {
    let known = call.index.contents().namespaces().map_err(|error| failed(call, error))?;
    let mut names: Vec<String> = known.into_iter().map(|known| known.name).filter(|name| call.may_read(name)).collect();
    names.sort();
    Ok(names)
}

/// The documents of a namespace that have passages, by path.
fn documents(call: &Call<'_>, namespace: &str) -> Result<Vec<DocumentState>, ErrorData> {
    let mut documents = call.index.contents().documents(namespace).map_err(|error| failed(call, error))?;
    documents.retain(|document| document.passages > 0);
    documents.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(documents)
}

fn resource(document: &DocumentState) -> Resource {
    let mut resource = Resource::new(uri_of(&document.namespace, &document.path), name(&document.path))
        .with_mime_type(mime_type(&document.path));
    resource.title = document.description.title.as_deref().map(name).filter(|title| !title.is_empty());
    // Imported documents are not files and have no size.
    resource.size = Some(document.file.size).filter(|size| *size > 0 && document.origin.is_none());
    let dated = document.dated_ns.or(Some(document.file.modified_ns).filter(|modified| *modified > 0));
    let dated = dated.and_then(|at| jiff::Timestamp::from_nanosecond(i128::from(at)).ok());
    resource.annotations = dated.map(|at| {
        let mut annotations = Annotations::default();
        annotations.last_modified = Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        annotations
    });
    resource
}

/// The media type of a document by its file extension. Imported documents are Markdown.
fn mime_type(path: &str) -> &'static str {
    if tamis::import::is_imported(path) {
        return "text/markdown";
    }
    let ending = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "md" | "markdown" | "mdx" => "text/markdown",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "json" => "application/json",
        "toml" => "application/toml",
        "yaml" | "yml" => "application/yaml",
        "xml" => "application/xml",
        "js" | "mjs" | "cjs" | "jsx" => "text/javascript",
        "ts" | "tsx" | "mts" | "cts" => "text/x-typescript",
        "rs" => "text/x-rust",
        "py" => "text/x-python",
        "c" | "h" => "text/x-c",
        "cpp" | "cc" | "cxx" | "hpp" => "text/x-c++",
        "java" => "text/x-java",
        "go" => "text/x-go",
        "sh" | "bash" => "text/x-shellscript",
        _ => "text/plain",
    }
}

fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

fn failed(call: &Call<'_>, error: Error) -> ErrorData {
    ErrorData::internal_error(Refused::from(error).text(call.caller), None)
}

// Addresses of documents: `tamis://NAMESPACE/PATH`, percent-encoded.

/// Prefix of every address.
const SCHEME: &str = "tamis://";

/// Characters that stay as they are besides letters and digits: the unreserved ones.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// In a path, separators and the characters in the names of issues stay too.
const PLAIN_IN_PATH: &AsciiSet = &PLAIN.remove(b'/').remove(b':').remove(b'@');

/// The address of a document.
pub(crate) fn uri_of(namespace: &str, path: &str) -> String {
    format!("{SCHEME}{}/{}", utf8_percent_encode(namespace, PLAIN), utf8_percent_encode(path, PLAIN_IN_PATH))
}

/// The namespace and the path of an address; `None` for any other text.
pub(crate) fn parse_uri(uri: &str) -> Option<(String, String)> {
    let (namespace, path) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(|text| text.into_owned());
    let (namespace, path) = (decoded(namespace)?, decoded(path)?);
    (!namespace.is_empty() && !path.is_empty()).then_some((namespace, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for case in [
            "app | src/main.rs", "app | issue:12", "my repo/ü | docs/a b#c?d%e.md", "app | %2e%2e/x",
            "a | odd\nname\u{1b}", "a:b | wiki:Home/Page",
        ] {
            let (namespace, path) = case.split_once(" | ").expect("a place");
            let uri = uri_of(namespace, path);
            assert!(uri.is_ascii() && !uri.contains(' '), "{uri}");
            assert_eq!(parse_uri(&uri), Some((namespace.to_owned(), path.to_owned())), "{uri}");
        }
        assert_eq!(uri_of("app", "issue:12"), "tamis://app/issue:12");
    }
}
