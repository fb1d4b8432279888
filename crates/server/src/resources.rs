//! Documents as resources: listed page by page in a steady order, and read as they are indexed. Nothing else can be read.

use crate::advice;
use crate::page::json_length;
use crate::text::{clean, first, name};
use crate::tool::Call;
use crate::uri;
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, CompletionInfo, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use tamis::Error;
use tamis::store::DocumentState;

/// Documents a page.
const A_PAGE: usize = 200;

/// Most characters of a page of the list, as JSON.
const LONGEST_PAGE: usize = 100_000;

/// Most characters of a resource. Clients read a message as a whole, some of them no more than a megabyte.
const LONGEST_TEXT: usize = 150_000;

/// Most characters of a value that is offered.
const LONGEST_VALUE: usize = 1000;

/// How addresses are made.
pub(crate) const TEMPLATE: &str = "tamis://{namespace}/{+path}";

/// The documents after the one whose address is the cursor, in the order of namespace and path. So nothing comes twice and
/// nothing is skipped that is there all the time, whatever changes in between.
///
/// # Errors
/// The cursor is none, or the index cannot be read.
pub(crate) fn list(call: &Call<'_>, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let after = cursor.map(|cursor| uri::read(cursor).ok_or_else(|| odd("cursor: not one that this list gave")));
    let after = after.transpose()?;
    let mut resources: Vec<Resource> = Vec::new();
    let mut next = None;
    let mut room = LONGEST_PAGE;
    'all: for namespace in namespaces(call)? {
        let after = match &after {
            Some((last, _)) if namespace < *last => continue,
            Some((last, path)) if namespace == *last => path.as_str(),
            _ => "",
        };
        for document in documents(call, &namespace)?.into_iter().filter(|document| document.path.as_str() > after) {
            let resource = resource(&document);
            let length = json_length(&resource);
            if resources.len() == A_PAGE || (length > room && !resources.is_empty()) {
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

/// How documents are addressed.
pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "document").with_title("Document").with_description(
        "A document as it is indexed: a file by its path under the root, an issue as issue:NUMBER, a claim as claim:ID. \
         namespace is the repository or project that results name.",
    );
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// The text of a document.
///
/// # Errors
/// There is no such document, or it may not be read; the two are told alike.
pub(crate) fn read(call: &Call<'_>, wanted: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || {
        ErrorData::resource_not_found(format!("{wanted}: no such resource"), Some(serde_json::json!({ "uri": wanted })))
    };
    let (namespace, path) = uri::read(wanted).ok_or_else(missing)?;
    let excerpt = match call.index.document_allowed(&namespace, &path, call.caller.namespaces.as_deref()) {
        Ok(excerpt) => excerpt,
        Err(Error::NotFound { .. }) => return Err(missing()),
        Err(error) => return Err(failed(&error)),
    };
    let contents = ResourceContents::text(bounded(&excerpt.text, &namespace, &path), uri::of(&namespace, &path))
        .with_mime_type(mime_type(&path));
    Ok(ReadResourceResult::new(vec![contents]))
}

/// As much of a text as a resource may have, and how to go on.
fn bounded(text: &str, namespace: &str, path: &str) -> String {
    let text = clean(text);
    let kept = first(&text, LONGEST_TEXT);
    match text[kept.len()..].chars().count() {
        0 => text,
        more => {
            let line = kept.matches('\n').count() + 1;
            let id = name(&format!("{namespace}:{path}"));
            format!("{kept}\n[… {more} characters more: the tool get reads on from line {line}, with id = {id:?}]\n")
        }
    }
}

/// Values for a variable of the template that begin as given.
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
    // A name that cannot be shown as it is can be read by the address that the list gives.
    values.retain(|value| value.starts_with(begun) && clean(value) == **value && value.chars().count() < LONGEST_VALUE);
    values.sort();
    values.dedup();
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::new(values).map_err(odd)?;
    info.total = u32::try_from(total).ok();
    info.has_more = Some(total > CompletionInfo::MAX_VALUES);
    Ok(info)
}

/// Namespaces that the caller may read, by name.
fn namespaces(call: &Call<'_>) -> Result<Vec<String>, ErrorData> {
    let known = call.index.contents().namespaces().map_err(|error| failed(&error.into()))?;
    let mut names: Vec<String> = known.into_iter().map(|known| known.name).filter(|name| call.may_read(name)).collect();
    names.sort();
    Ok(names)
}

/// The documents of a namespace that hold anything, by path.
fn documents(call: &Call<'_>, namespace: &str) -> Result<Vec<DocumentState>, ErrorData> {
    let mut documents = call.index.contents().documents(namespace).map_err(|error| failed(&error.into()))?;
    documents.retain(|document| document.passages > 0);
    documents.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(documents)
}

fn resource(document: &DocumentState) -> Resource {
    let mut resource = Resource::new(uri::of(&document.namespace, &document.path), name(&document.path))
        .with_mime_type(mime_type(&document.path));
    resource.title = document.title.as_deref().map(name).filter(|title| !title.is_empty());
    // What was imported has no size of its own.
    resource.size = Some(document.size).filter(|size| *size > 0 && document.origin.is_none());
    let dated = document.dated_ns.or(Some(document.modified_ns).filter(|modified| *modified > 0));
    let dated = dated.and_then(|at| jiff::Timestamp::from_nanosecond(i128::from(at)).ok());
    resource.annotations = dated.map(|at| {
        let mut annotations = Annotations::default();
        annotations.last_modified = Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        annotations
    });
    resource
}

/// The type of a text by the ending of its name. What is imported is rendered as Markdown.
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

fn odd(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

fn failed(error: &Error) -> ErrorData {
    ErrorData::internal_error(advice::of(error), None)
}
