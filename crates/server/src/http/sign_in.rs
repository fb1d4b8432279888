//! Signing in on the page: a token becomes its [`cookie`].

use super::connections::Connection;
use super::cookie::{FROM_PAGE, cookie, of_cookie};
use super::gate::{Gate, is_json};
use super::rate_limit::ClientKey;
use super::token;
use crate::api::encode;
use crate::api::problem::{Kind, Problem};
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, SET_COOKIE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The route.
pub(super) const SIGN_IN: &str = "/page/session";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    token: String,
}

/// What the page may do.
#[derive(Serialize)]
struct Rights {
    /// True if the server knows tokens, so that somebody without one sees nothing.
    needs_token: bool,
    /// True if the caller may read.
    signed_in: bool,
    may_judge: bool,
    may_refresh: bool,
    /// The namespaces that the caller may read; `null` means all.
    namespaces: Option<Vec<String>>,
}

/// Answers what the caller may do (GET), takes a token (POST), or forgets it (DELETE).
pub(super) async fn sign_in(
    State(gate): State<Arc<Gate>>,
    Extension(connection): Extension<Arc<Connection>>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    if !parts.headers.contains_key(FROM_PAGE) {
        return Err(Problem::new(Kind::Forbidden, "this route is for the page at /; it sends the header Tamis-Page"));
    }
    // Otherwise a caller could try one token after the other here.
    gate.rate_limit.count(ClientKey::at(connection.peer.ip()))?;
    if parts.method == Method::DELETE {
        return Ok((StatusCode::NO_CONTENT, set(&parts.headers, None), ()).into_response());
    }
    if parts.method == Method::POST {
        let body = gate.bodies.read(body).await?;
        if !is_json(&parts.headers) {
            return Err(Problem::new(Kind::MediaType, "Content-Type: must be application/json"));
        }
        let given: Given = serde_json::from_slice(&body)
            .map_err(|_| Problem::new(Kind::Body, "expected an object with the text \"token\""))?;
        let found = token::position(&gate.tokens, given.token.trim());
        // An unknown token is refused as anywhere else.
        gate.identify(found, &connection)?;
        return Ok((set(&parts.headers, Some(given.token.trim())), rights(&gate, found)).into_response());
    }
    Ok(rights(&gate, of_cookie(&gate.tokens, &parts.headers)))
}

fn set(headers: &HeaderMap, token: Option<&str>) -> Option<[(HeaderName, HeaderValue); 1]> {
    cookie(headers, token).map(|cookie| [(SET_COOKIE, cookie)])
}

fn rights(gate: &Gate, found: Option<usize>) -> Response {
    let needs_token = !gate.tokens.is_empty();
    let caller = match found {
        Some(position) => Some(&gate.tokens[position].caller),
        None if needs_token => None,
        None => Some(gate.server.anonymous()),
    };
    let rights = Rights {
        needs_token,
        signed_in: caller.is_some(),
        may_judge: caller.is_some_and(|caller| caller.may_judge),
        may_refresh: caller.is_some_and(|caller| caller.may_refresh),
        namespaces: caller.and_then(|caller| caller.namespaces.clone()),
    };
    ([(CONTENT_TYPE, "application/json")], encode::json(&rights)).into_response()
}
