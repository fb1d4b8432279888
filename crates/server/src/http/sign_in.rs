//! Signing in on the page: a token becomes a cookie that scripts cannot read.
//!
//! The cookie counts only beside the header [`FROM_PAGE`]. A page of another site cannot send that header without asking first, and the
//! server permits no such question, so a cookie alone moves nothing (OWASP, "Cross-Site Request Forgery Prevention", custom request headers).
//! The protocol for agents knows no cookies.

use super::api::Refusal;
use super::body::Outgoing;
use super::connections::Connection;
use super::handler::{Handler, is_json, plain, response, too_many_requests};
use super::rate_limit::ClientKey;
use super::token::{self, Token};
use crate::api::encode;
use crate::api::problem::{Kind, Problem};
use hyper::body::Incoming;
use hyper::header::{COOKIE, HeaderMap, HeaderName, HeaderValue, ORIGIN, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use serde::{Deserialize, Serialize};

/// The route.
pub(super) const SIGN_IN: &str = "/page/session";

pub(super) const METHODS: [Method; 4] = [Method::GET, Method::HEAD, Method::POST, Method::DELETE];
pub(super) const METHOD_NAMES: &str = "GET, HEAD, POST, DELETE";

/// The header of every request that the page makes.
const FROM_PAGE: HeaderName = HeaderName::from_static("tamis-page");

const NAME: &str = "tamis_token";

/// Thirty days.
const SECONDS: u32 = 30 * 24 * 60 * 60;

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

/// The position of the token in a request's cookie, if the page sent it.
pub(super) fn of_cookie(tokens: &[Token], headers: &HeaderMap) -> Option<usize> {
    if !headers.contains_key(FROM_PAGE) {
        return None;
    }
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut own = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, text) = own.find(|(name, _)| *name == NAME)?;
    token::position(tokens, text)
}

/// The cookie with a token, or, without one, the end of it.
fn cookie(headers: &HeaderMap, token: Option<&str>) -> Option<HeaderValue> {
    // Only the page itself knows whether it came over TLS, which a server in front of this one may have ended.
    let is_secure = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if is_secure { "; Secure" } else { "" };
    let (token, seconds) = token.map_or(("", 0), |token| (token, SECONDS));
    let cookie = format!("{NAME}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&cookie).ok()
}

impl Handler {
    /// Answers what the caller may do (GET), takes a token (POST), or forgets it (DELETE).
    pub(super) async fn sign_in(
        &self,
        request: Request<Incoming>,
        connection: &Connection,
    ) -> Result<Response<Outgoing>, Refusal> {
        let (parts, body) = request.into_parts();
        if !parts.headers.contains_key(FROM_PAGE) {
            return Err(Problem::new(
                Kind::Forbidden,
                "this route is for the page at /; it sends the header Tamis-Page",
            )
            .into());
        }
        // Otherwise a caller could try one token after the other here.
        self.rate_limit.count(ClientKey::at(connection.peer.ip())).map_err(too_many_requests)?;
        if parts.method == Method::DELETE {
            let mut response = plain(StatusCode::NO_CONTENT, "");
            response.headers_mut().extend(cookie(&parts.headers, None).map(|cookie| (SET_COOKIE, cookie)));
            return Ok(response);
        }
        if parts.method == Method::POST {
            let body = self.bodies.read(body).await.map_err(|status| self.unreadable_body(status))?;
            if !is_json(&parts.headers) {
                return Err(Problem::new(Kind::MediaType, "Content-Type: must be application/json").into());
            }
            let given: Given = serde_json::from_slice(&body)
                .map_err(|_| Problem::new(Kind::Body, "expected an object with the text \"token\""))?;
            let found = token::position(&self.tokens, given.token.trim());
            // An unknown token is refused as anywhere else.
            self.identify(found, connection)?;
            let mut response = self.rights(found);
            response
                .headers_mut()
                .extend(cookie(&parts.headers, Some(given.token.trim())).map(|cookie| (SET_COOKIE, cookie)));
            return Ok(response);
        }
        let found = of_cookie(&self.tokens, &parts.headers);
        Ok(self.rights(found))
    }

    fn rights(&self, found: Option<usize>) -> Response<Outgoing> {
        let needs_token = !self.tokens.is_empty();
        let caller = match found {
            Some(position) => Some(&self.tokens[position].caller),
            None if needs_token => None,
            None => Some(&self.anonymous),
        };
        let rights = Rights {
            needs_token,
            signed_in: caller.is_some(),
            may_judge: caller.is_some_and(|caller| caller.may_judge),
            may_refresh: caller.is_some_and(|caller| caller.may_refresh),
            namespaces: caller.and_then(|caller| caller.namespaces.clone()),
        };
        response(StatusCode::OK, encode::json(&rights), "application/json")
    }
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
        assert!(
            cookie(&HeaderMap::new(), None).unwrap().to_str().unwrap().starts_with("tamis_token=; Path=/; Max-Age=0")
        );
    }
}
