//! Signing in on the page: a token becomes a cookie.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue, ORIGIN, SET_COOKIE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::connections::Connection;
use super::gate::{ClientKey, Gate, is_json};
use super::tokens::{Token, position};
use crate::api;
use crate::api::problem::{Kind, Problem};

/// The route.
pub(crate) const SIGN_IN: &str = "/page/session";

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
pub(crate) async fn sign_in(
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
        let found = position(&gate.tokens, given.token.trim());
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
    ([(CONTENT_TYPE, "application/json")], api::json(&rights)).into_response()
}

// The cookie of the page: a token that scripts cannot read.
//
// The cookie counts only beside the header `FROM_PAGE`. A page of another site cannot send that header without asking first, and the
// server permits no such question, so a cookie alone moves nothing (OWASP, "Cross-Site Request Forgery Prevention", custom request
// headers). The protocol for agents knows no cookies.

/// The header of every request that the page makes.
pub(crate) const FROM_PAGE: HeaderName = HeaderName::from_static("tamis-page");

const NAME: &str = "tamis_token";

/// Thirty days.
const SECONDS: u32 = 30 * 24 * 60 * 60;

/// The position of the token in a request's cookie, if the page sent it.
pub(crate) fn of_cookie(tokens: &[Token], headers: &HeaderMap) -> Option<usize> {
    if !headers.contains_key(FROM_PAGE) {
        return None;
    }
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut own = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, text) = own.find(|(name, _)| *name == NAME)?;
    position(tokens, text)
}

/// The cookie with a token, or, without one, the end of it.
pub(crate) fn cookie(headers: &HeaderMap, token: Option<&str>) -> Option<HeaderValue> {
    // Only the page itself knows whether it came over TLS, which a server in front of this one may have ended.
    let is_secure = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if is_secure { "; Secure" } else { "" };
    let (token, seconds) = token.map_or(("", 0), |token| (token, SECONDS));
    let cookie = format!("{NAME}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&cookie).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::Caller;

    const TEXT: &str = "abcdefghijklmnop.~+/=-_";

    fn headers(given: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_cookie_counts_only_beside_the_pages_header() {
        let of = |text| Token::plain("name", text, Caller::default()).unwrap();
        let tokens = [of("another-token-of-mine"), of(TEXT)];
        let found = |given: &[(&str, &str)]| of_cookie(&tokens, &headers(given));
        let right = format!("theme=dark; tamis_token={TEXT}");
        assert_eq!(found(&[("cookie", &right), ("tamis-page", "1")]), Some(1));
        assert_eq!(found(&[("cookie", "a=b"), ("cookie", &right), ("tamis-page", "1")]), Some(1));
        assert_eq!(found(&[("cookie", &right)]), None, "another site can make a browser send this");
        assert_eq!(found(&[("tamis-page", "1")]), None);
        for wrong in [format!("tamis_token={TEXT}x"), format!("xtamis_token={TEXT}"), "tamis_token=".into()] {
            assert_eq!(found(&[("cookie", &wrong), ("tamis-page", "1")]), None, "{wrong}");
        }
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        let plain = cookie(&headers(&[("origin", "http://localhost:8765")]), Some(TEXT)).unwrap();
        let plain = plain.to_str().unwrap();
        assert!(plain.starts_with(&format!("tamis_token={TEXT}; ")), "{plain}");
        assert!(plain.contains("; HttpOnly; SameSite=Strict") && !plain.contains("Secure"), "{plain}");
        let secure = cookie(&headers(&[("origin", "https://search.example")]), Some(TEXT)).unwrap();
        assert!(secure.to_str().unwrap().ends_with("; Secure"));
        let ended = cookie(&HeaderMap::new(), None).unwrap();
        assert!(ended.to_str().unwrap().starts_with("tamis_token=; Path=/; Max-Age=0"));
    }
}
