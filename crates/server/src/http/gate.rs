//! The checks that every request passes, each once and in this order: host and origin, token, rate, and then, for what carries a
//! message, the caller's load and the message's size and speed.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue, ORIGIN, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};
use tamis::search::SearchCaller;
use tokio_util::sync::CancellationToken;

use super::agents::Protocol;
use super::connections::{ClientKey, Connection, LoggedCall, RateLimit, RequestLog};
use super::headers::{BodyReader, OriginPolicy, ResponseBody};
use super::sessions::Sessions;
use crate::api;
use crate::api::EVENTS;
use crate::api::problem::{Detail, Kind, Problem};
use crate::caller::Caller;
use crate::lanes::Share;
use crate::process::ServeError;
use crate::server::Server;

/// Path of the protocol for agents.
pub(crate) const AGENTS: &str = "/mcp";

/// The same with a slash at its end, as some people write it.
pub(crate) const AGENTS_SLASH: &str = "/mcp/";

/// Path for process monitors, which is served without the API too.
pub(crate) const HEALTH: &str = "/health";

/// Most calls in progress or waiting. The calls of a session outlive the connection that brought them.
const MAX_CALLS: usize = 1024;

/// Most of them by one caller, so that others are still heard.
const MAX_CALLS_EACH: usize = MAX_CALLS / 4;

/// What the checks and the routes share.
pub(crate) struct Gate {
    pub origins: OriginPolicy,
    pub tokens: Vec<Token>,
    pub rate_limit: RateLimit,
    pub bodies: BodyReader,
    pub request_timeout: Duration,
    pub log_queries: bool,
    pub sessions: Sessions,
    pub server: Server,
    pub protocol: Protocol,
    /// Cancelled when streams, which would never end by themselves, have to.
    pub stop_streams: CancellationToken,
    /// True if the JSON API is served besides the protocol.
    pub serves_api: bool,
}

/// The sender of a request.
#[derive(Clone)]
pub(crate) struct Identity {
    pub client: ClientKey,
    pub caller: Caller,
    pub token: Option<String>,
    pub connection: Arc<Connection>,
}

impl Identity {
    /// The holder of the token or, without tokens, the connection.
    pub fn share(&self) -> Share {
        Share(match &self.token {
            Some(token) => SearchCaller::session(&["token", token]),
            None => self.connection.client,
        })
    }
}

/// Logs and counts a request, and ends its answer in time.
pub(crate) async fn log(
    State(gate): State<Arc<Gate>>,
    Extension(connection): Extension<Arc<Connection>>,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.extensions().get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("other", MatchedPath::as_str);
    let path = if path == AGENTS_SLASH { AGENTS } else { path };
    let method = request.method().clone();
    let call = LoggedCall::default();
    request.extensions_mut().insert(call.clone());
    let mut log = RequestLog::new(method.as_str(), path, call);
    let mut response = next.run(request).await;
    log.status = response.status().as_u16();
    gate.server.metrics().request(path, method.as_str(), log.status, log.elapsed());
    if !gate.serves_api || [AGENTS, HEALTH].contains(&path) {
        response = in_plain_words(response);
    }
    let headers = response.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // The answer to a call has a time limit. A stream of the server's own messages goes on until its client leaves.
    let is_stream = path == EVENTS || (path == AGENTS && method != Method::POST);
    let deadline = (!is_stream).then(|| Box::pin(tokio::time::sleep(gate.request_timeout)));
    let until_sent = Some((log, connection.pending_answer()));
    response.map(|body| Body::new(ResponseBody { body, until_sent, deadline }))
}

/// A problem as agents read it: its text alone.
fn in_plain_words(mut response: Response) -> Response {
    if let Some(Detail(text)) = response.extensions_mut().remove::<Detail>() {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        *response.body_mut() = text.into();
    }
    response
}

/// Refuses a request to another host or by a page of another origin.
pub(crate) async fn check_origin(
    State(gate): State<Arc<Gate>>,
    Extension(connection): Extension<Arc<Connection>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    gate.origins.check(request.uri(), request.headers(), connection.local.ip())?;
    Ok(next.run(request).await)
}

/// Admits the holder of a token within the limit of its rate.
pub(crate) async fn admit(
    State(gate): State<Arc<Gate>>,
    Extension(connection): Extension<Arc<Connection>>,
    Extension(log): Extension<LoggedCall>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let headers = request.headers();
    let is_agent = [AGENTS, AGENTS_SLASH].contains(&request.uri().path());
    let by_cookie = || if is_agent { None } else { of_cookie(&gate.tokens, headers) };
    let identity = gate.identify(find(&gate.tokens, headers).or_else(by_cookie), &connection)?;
    log.token(identity.token.as_deref());
    gate.rate_limit.count(identity.client)?;
    request.extensions_mut().insert(identity);
    Ok(next.run(request).await)
}

impl Gate {
    /// Identifies the sender by the position of its token. A client that tries tokens is counted by its address.
    pub fn identify(&self, given: Option<usize>, connection: &Arc<Connection>) -> Result<Identity, Problem> {
        let address = ClientKey::at(connection.peer.ip());
        let (client, caller, token) = match given.map(|position| (position, &self.tokens[position])) {
            _ if self.tokens.is_empty() => (address, self.server.anonymous().clone(), None),
            Some((position, token)) => (ClientKey::Token(position), token.caller.clone(), Some(token.name.clone())),
            None => {
                self.rate_limit.count(address)?;
                return Err(Problem::new(Kind::Unauthorized, "a token is needed: Authorization: Bearer TOKEN"));
            }
        };
        Ok(Identity { client, caller, token, connection: connection.clone() })
    }

    /// Reads the message of a call, unless too many are in progress or waiting.
    pub async fn accept(&self, share: Share, connection: &Connection, body: Body) -> Result<Bytes, Problem> {
        if self.server.active_calls().count() >= MAX_CALLS || self.server.calls_of(share) >= MAX_CALLS_EACH {
            return Err(Problem::new(Kind::Unavailable, "too many calls at once; try again"));
        }
        let message = self.bodies.read(body).await?;
        connection.mark_active();
        Ok(message)
    }

    /// Waits for an answer to begin, as long as a request may take.
    pub async fn in_time<T>(&self, answering: impl Future<Output = T>) -> Result<T, Problem> {
        let too_long = "the request took longer than mcp.request_timeout_seconds allows";
        tokio::time::timeout(self.request_timeout, answering).await.map_err(|_| Problem::new(Kind::Timeout, too_long))
    }
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

// Bearer tokens, and what their holders may do.

/// Fewest characters of a token; a shorter one could be guessed.
const MIN_LENGTH: usize = 16;

/// Most characters of a token; a longer one cannot be ours and is not worth hashing.
const MAX_LENGTH: usize = 512;

/// A token that lets a client in. The server keeps only its hash.
#[derive(Clone, Debug)]
pub struct Token {
    /// Name of the token in the log.
    pub name: String,
    sha256: [u8; 32],
    /// Rights of the holder.
    pub caller: Caller,
}

impl Token {
    /// A token by its SHA-256.
    pub fn hashed(name: impl Into<String>, sha256: [u8; 32], caller: Caller) -> Token {
        Token { name: name.into(), sha256, caller }
    }

    /// The same text for the same token on every server of an index, from which the token cannot be found.
    pub(crate) fn owner(&self) -> String {
        format!("token {}", blake3::hash(&self.sha256).to_hex())
    }

    /// A token by its text. Only the hash of the text is kept.
    ///
    /// # Errors
    /// The text is too short to be secret, too long, or has characters that a header cannot carry.
    pub fn plain(name: impl Into<String>, text: &str, caller: Caller) -> Result<Token, ServeError> {
        let name = name.into();
        if !(MIN_LENGTH..=MAX_LENGTH).contains(&text.len()) || !is_token(text) {
            let allowed = format!(
                "{MIN_LENGTH} to {MAX_LENGTH} letters, digits and -._~+/=; `tamis mcp token NAME` makes a safe one"
            );
            return Err(ServeError::InvalidToken { name, allowed });
        }
        Ok(Token { name, sha256: hash(text), caller })
    }
}

/// True if a text is a `b64token` of RFC 6750.
fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte))
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Makes a random token. Returns it with its SHA-256 in hexadecimal digits.
///
/// # Errors
/// The system provides no random bytes.
pub fn fresh_token() -> Result<(String, String), ServeError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| ServeError::Random(error.to_string()))?;
    let token = format!("tamis_{}", hex(&bytes));
    let sha256 = hex(&hash(&token));
    Ok((token, sha256))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The position of a request's token in the list.
pub(crate) fn find(tokens: &[Token], headers: &HeaderMap) -> Option<usize> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let (scheme, text) = value.to_str().ok()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { position(tokens, text.trim_matches(' ')) } else { None }
}

/// The position of a token in the list, by its text. All tokens are compared, each in constant time, so that timing reveals
/// nothing.
pub(crate) fn position(tokens: &[Token], text: &str) -> Option<usize> {
    if text.is_empty() || text.len() > MAX_LENGTH || !is_token(text) {
        return None;
    }
    let given = hash(text);
    let mut found = None;
    for (position, token) in tokens.iter().enumerate() {
        let same: Choice = token.sha256.ct_eq(&given);
        if same.into() {
            found = Some(position);
        }
    }
    found
}

// Signing in on the page: a token becomes a cookie.

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
// server permits no such question, so a cookie alone moves nothing (OWASP, "Cross-Site Request Forgery Prevention", custom request headers).
// The protocol for agents knows no cookies.

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

    const TEXT: &str = "abcdefghijklmnop.~+/=-_";

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn one_token_is_found_among_several_and_nothing_else_is() {
        let of = |text| Token::plain("name", text, Caller::default()).unwrap();
        let tokens = [of("another-token-of-mine"), of(TEXT)];
        let right = format!("Bearer {TEXT}");
        assert_eq!(find(&tokens, &headers(&[&right])), Some(1));
        assert_eq!(find(&tokens, &headers(&[&format!("bearer  {TEXT} ")])), Some(1));
        for wrong in [
            vec![],
            vec![right.as_str(), right.as_str()],
            vec![TEXT],
            vec!["Bearer"],
            vec!["Bearer "],
            vec!["Basic YTpi"],
            vec!["Bearer abcdefghijklmnop.~+/=-"],
            vec!["Bearer abcdefghijklmnop.~+/=-_x"],
            vec!["Bearer abcdefghijklmnop.~+/=-_ x"],
        ] {
            assert_eq!(find(&tokens, &headers(&wrong)), None, "{wrong:?}");
        }
        let long = format!("Bearer {}", "a".repeat(100_000));
        assert_eq!(find(&tokens, &headers(&[&long])), None);
    }

    #[test]
    fn weak_and_unsendable_tokens_are_refused_without_being_shown() {
        for text in [
            "",
            "hunter2",
            "fifteen-letters",
            "a token with spaces in it",
            "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
        ] {
            let error = Token::plain("env", text, Caller::default()).unwrap_err().to_string();
            assert!(error.contains("16 to 512") && (text.is_empty() || !error.contains(text)), "{error}");
        }
    }

    #[test]
    fn fresh_tokens_differ_and_match_their_hash() {
        let (one, sha256) = fresh_token().unwrap();
        let (other, _) = fresh_token().unwrap();
        assert_ne!(one, other);
        assert_eq!(sha256, hex(&hash(&one)));
        assert!(Token::plain("fresh", &one, Caller::default()).is_ok());
    }
}

#[cfg(test)]
mod cookie_tests {
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
