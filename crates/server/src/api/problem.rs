//! Problem documents (RFC 9457): an error with its status, its kind and the text that the command prints for it.

use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tamis::Error;
use tamis::lists::ListError;
use tamis_store::StoreError;

use crate::caller::Caller;
use crate::refusal_text;

/// The content type of a problem document.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Seconds after which a client should ask again for what is not available now.
const RETRY_SECONDS: u64 = 1;

/// A refused or failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub kind: Kind,
    /// What happened, to what, and the way out.
    pub detail: String,
    /// The detail for a caller who is limited to namespaces, where that is another one.
    instead: Option<&'static str>,
    /// A header of the response besides those of the kind.
    header: Option<(HeaderName, HeaderValue)>,
}

/// The detail of a problem, which its response carries for those who want it as a plain text.
#[derive(Clone)]
pub(crate) struct Detail(pub String);

/// Declares the kinds of problems with their names, statuses and titles.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $status:ident, $title:literal;)*) => {
        /// The kind of a problem, which decides its status, its type and its title.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// All kinds.
            #[cfg(test)]
            pub const ALL: &[Kind] = &[$(Kind::$kind),*];

            /// The last part of the type.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name),* }
            }

            /// The status.
            pub fn status(self) -> StatusCode {
                match self { $(Kind::$kind => StatusCode::$status),* }
            }

            /// The title, the same for every problem of the kind.
            pub fn title(self) -> &'static str {
                match self { $(Kind::$kind => $title),* }
            }
        }
    };
}

kinds! {
    /// A parameter is unknown, missing, of the wrong type or out of range.
    Parameter = "invalid-parameter", BAD_REQUEST, "A parameter is not valid";
    /// The body is not the JSON object that the route takes.
    Body = "invalid-body", BAD_REQUEST, "The body is not valid";
    /// The request itself is malformed.
    Request = "invalid-request", BAD_REQUEST, "The request is not valid";
    /// No token, or one that the server does not know.
    Unauthorized = "unauthorized", UNAUTHORIZED, "A token is needed";
    /// The caller lacks the right, or the server the permission.
    Forbidden = "forbidden", FORBIDDEN, "Not allowed";
    /// Nothing of that name that the caller may read.
    NotFound = "not-found", NOT_FOUND, "Not found";
    /// No such route.
    Route = "unknown-route", NOT_FOUND, "No such route";
    /// A route with another method.
    Method = "method-not-allowed", METHOD_NOT_ALLOWED, "Method not allowed";
    /// A name that means several things, or data that a request needs and the index lacks.
    Conflict = "conflict", CONFLICT, "The index cannot answer this as asked";
    /// A body that is too long.
    TooLarge = "too-large", PAYLOAD_TOO_LARGE, "The body is too long";
    /// A body that is not declared as JSON.
    MediaType = "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "The body must be JSON";
    /// A body that arrived too slowly.
    Slow = "request-timeout", REQUEST_TIMEOUT, "The request took too long to arrive";
    /// More requests than the limit allows.
    TooMany = "too-many-requests", TOO_MANY_REQUESTS, "Too many requests";
    /// The server is busy, or something that it needs does not answer.
    Unavailable = "unavailable", SERVICE_UNAVAILABLE, "Not available now";
    /// The answer took too long.
    Timeout = "timeout", GATEWAY_TIMEOUT, "The answer took too long";
    /// The server failed.
    Internal = "internal", INTERNAL_SERVER_ERROR, "The server failed";
}

/// A problem document.
#[derive(Serialize)]
struct Document<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
}

impl Problem {
    pub fn new(kind: Kind, detail: impl Into<String>) -> Problem {
        Problem { kind, detail: detail.into(), instead: None, header: None }
    }

    /// The problem with a header of its response.
    pub fn with(self, name: HeaderName, value: impl Into<HeaderValue>) -> Problem {
        Problem { header: Some((name, value.into())), ..self }
    }

    /// A method that a route does not have. `names` lists those that it has.
    pub fn method(method: &Method, names: String) -> Problem {
        let problem = Problem::new(Kind::Method, format!("{method}: not for this route; use {names}"));
        Problem { header: HeaderValue::try_from(names).ok().map(|names| (ALLOW, names)), ..problem }
    }

    /// The problem as a caller may read it. A failure can name files, which only callers who may read everything see.
    pub fn for_caller(self, caller: &Caller) -> Problem {
        let instead = self.instead.or((self.kind == Kind::Internal).then_some(refusal_text::UNREADABLE));
        Problem { detail: refusal_text::for_caller(caller, self.detail, instead), ..self }
    }

    /// The document.
    pub fn document(&self) -> Vec<u8> {
        let document = Document {
            r#type: format!("urn:tamis:problem:{}", self.kind.name()),
            title: self.kind.title(),
            status: self.kind.status().as_u16(),
            detail: &self.detail,
        };
        crate::api::json(&document)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = self.document();
        let mut response = (self.kind.status(), [(CONTENT_TYPE, PROBLEM_JSON)], body).into_response();
        let of_kind = match self.kind {
            Kind::Unauthorized => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tamis\""))),
            Kind::Unavailable => Some((RETRY_AFTER, RETRY_SECONDS.into())),
            _ => None,
        };
        response.headers_mut().extend(of_kind.into_iter().chain(self.header));
        response.extensions_mut().insert(Detail(self.detail));
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let unavailable = match &error {
            Error::Store(StoreError::Unavailable { reason, .. }) => Some(reason.as_str()),
            Error::Store(StoreError::WriterLost { .. }) => {
                Some("its connection broke, and the change was not made; try again")
            }
            _ => None,
        };
        if let Some(reason) = unavailable {
            // The addresses of the database's servers are no business of a caller.
            tracing::warn!(target: "tamis::http", detail = %error, "the database is not available");
            let problem = Problem::new(Kind::Unavailable, format!("the database: {reason}"));
            return Problem { instead: refusal_text::instead(&error), ..problem };
        }
        let kind = match &error {
            // Another caller's search looks the same as a missing one.
            Error::Argument { name: "query id" | "view", .. }
            | Error::NotFound { .. }
            | Error::NoIssues { .. }
            | Error::LeftOut { .. } => Kind::NotFound,
            Error::Argument { .. } | Error::Aim(_) | Error::Sql { .. } | Error::View { .. } => Kind::Parameter,
            Error::Ambiguous { .. } | Error::Guarantee { .. } | Error::NotEmbedded { .. } | Error::NoVectors { .. } => {
                Kind::Conflict
            }
            Error::Model { .. } | Error::Embed(_) | Error::Cancelled => Kind::Unavailable,
            Error::Store(StoreError::Invalid { .. } | StoreError::Glob { .. } | StoreError::Sql { .. }) => {
                Kind::Parameter
            }
            Error::Store(StoreError::Busy { .. }) => Kind::Unavailable,
            _ => Kind::Internal,
        };
        Problem { instead: refusal_text::instead(&error), ..Problem::new(kind, error.to_string()) }
    }
}

impl From<ListError> for Problem {
    fn from(error: ListError) -> Self {
        Problem::new(Kind::Parameter, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_the_members_of_the_standard_and_hides_nothing() {
        let problem = Problem::new(Kind::Parameter, "limit = 0: must be 1 to 1000");
        let document: serde_json::Value = serde_json::from_slice(&problem.document()).expect("JSON");
        let expected = serde_json::json!({
            "type": "urn:tamis:problem:invalid-parameter",
            "title": "A parameter is not valid",
            "status": 400,
            "detail": "limit = 0: must be 1 to 1000",
        });
        assert_eq!(document, expected);
        let hidden = Problem::new(Kind::NotFound, "a\u{202e}b").document();
        assert!(hidden.is_ascii(), "{}", String::from_utf8_lossy(&hidden));
    }

    #[test]
    fn an_error_keeps_its_text_and_gets_its_status() {
        for (error, status) in [
            (Error::NotFound { wanted: "x".into(), nearest: None }, 404),
            (Error::Ambiguous { wanted: "x".into(), forms: vec![] }, 409),
            (Error::Cancelled, 503),
            (Error::Sql { error: "no such table".into(), hint: None }, 400),
            (Error::Store(StoreError::Missing { path: "x".into() }), 500),
        ] {
            let text = error.to_string();
            let problem = Problem::from(error);
            assert_eq!((problem.kind.status().as_u16(), problem.detail.as_str()), (status, text.as_str()));
        }
    }

    #[test]
    fn a_database_that_is_not_available_is_not_named_nor_are_the_servers_behind() {
        let (path, reason) = ("postgres://10.0.0.1:5432/tamis", "no connection is free".to_owned());
        for (error, detail) in [
            (StoreError::Unavailable { path: path.into(), reason }, "the database: no connection is free"),
            (
                StoreError::WriterLost { path: path.into() },
                "the database: its connection broke, and the change was not made; try again",
            ),
        ] {
            let problem = Problem::from(Error::Store(error));
            assert_eq!((problem.kind.status().as_u16(), problem.detail.as_str()), (503, detail));
        }
        let reason = "connection to the remote node tamis@10.0.0.5:5432 failed; a node of Citus is away".to_owned();
        let away = || Error::Store(StoreError::Unavailable { path: "postgres://db/x".into(), reason: reason.clone() });
        let limited = Caller { namespaces: Some(vec!["mill".into()]), ..Caller::default() };
        for caller in [limited, Caller::default()] {
            let problem = Problem::from(away()).for_caller(&caller);
            assert_eq!(problem.kind.status().as_u16(), 503);
            assert_eq!(problem.detail.contains("10.0.0.5"), caller.namespaces.is_none(), "{}", problem.detail);
        }
    }

    #[test]
    fn names_are_not_used_twice() {
        let mut names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Kind::ALL.len());
    }
}
