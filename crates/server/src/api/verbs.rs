//! The methods of a route.

use axum::routing::MethodFilter;

/// The methods of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbs {
    /// Parameters in the query string.
    Get,
    /// Parameters in the query string, or the same in a JSON object.
    GetOrPost,
    /// Parameters in a JSON object.
    Post,
}

impl Verbs {
    /// The methods; GET brings HEAD along.
    pub fn filter(self) -> MethodFilter {
        match self {
            Verbs::Get => MethodFilter::GET,
            Verbs::GetOrPost => MethodFilter::GET.or(MethodFilter::POST),
            Verbs::Post => MethodFilter::POST,
        }
    }

    /// The methods as a header names them.
    pub fn names(self) -> &'static str {
        match self {
            Verbs::Get => "GET, HEAD",
            Verbs::GetOrPost => "GET, HEAD, POST",
            Verbs::Post => "POST",
        }
    }
}
