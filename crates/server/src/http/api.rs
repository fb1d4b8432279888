//! Answers requests to the JSON API, behind the checks of every request: host, origin, token, rate, size and time.

use super::answer::{page, sent};
use super::body::Outgoing;
use super::connections::Connection;
use super::handler::{Handler, Identity, Rejection, is_json, plain, reject, response, too_many_requests};
use super::request_log::RequestLog;
use super::sign_in::{self, SIGN_IN};
use super::token;
use crate::api::encode;
use crate::api::endpoint::{RegisteredEndpoint, Verbs};
use crate::api::metrics::IndexState;
use crate::api::openapi;
use crate::api::parameters;
use crate::api::problem::{self, Kind, Problem};
use crate::api::route::{self, EVENTS, OPENAPI};
use crate::background::Phase;
use crate::server::Sender;
use crate::web_page::{self, Asset};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ALLOW, CONNECTION, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::JsonObject;
use std::sync::{Arc, LazyLock};
use tamis::search::SearchCaller;

/// The description of the API, written once.
static DOCUMENT: LazyLock<Vec<u8>> = LazyLock::new(|| encode::json(&openapi()));

/// Content type of the metrics.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Headers of a refusal that its problem document keeps.
const KEPT: [HeaderName; 4] = [ALLOW, CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE];

/// Seconds after which a client should ask again for what is not available now.
const RETRY_SECONDS: u64 = 1;

/// A refusal of a request: a problem with the headers that belong to it.
pub(super) struct Refusal {
    problem: Problem,
    pub headers: Box<HeaderMap>,
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        let mut headers = HeaderMap::new();
        if problem.kind == Kind::Unavailable {
            headers.insert(RETRY_AFTER, RETRY_SECONDS.into());
        }
        Refusal { problem, headers: Box::new(headers) }
    }
}

impl From<Rejection> for Refusal {
    fn from(Rejection(response, reason): Rejection) -> Self {
        let problem = Problem::of_status(response.status(), String::from_utf8_lossy(&reason));
        let kept = KEPT.into_iter().filter_map(|name| Some((name.clone(), response.headers().get(name)?.clone())));
        Refusal { problem, headers: Box::new(kept.collect()) }
    }
}

impl Refusal {
    fn response(self) -> Response<Outgoing> {
        let mut response = response(self.problem.kind.status(), self.problem.document(), problem::CONTENT_TYPE);
        response.headers_mut().extend(*self.headers);
        response
    }
}

/// The target of a request.
enum Target {
    /// It tells nothing of the index, so that no token is needed.
    Open(Open),
    Guarded(Guarded),
}

enum Open {
    Health,
    Ready,
    /// A file of the page. A browser loads them before it can send a token.
    Page(&'static Asset),
    /// The page's cookie.
    SignIn,
}

enum Guarded {
    Metrics,
    Document,
    Events,
    Endpoint(&'static RegisteredEndpoint, JsonObject),
}

impl Target {
    fn of(path: &str, method: &Method) -> Result<Target, Problem> {
        Ok(match path {
            "/healthz" => Target::Open(Open::Health),
            "/readyz" => Target::Open(Open::Ready),
            SIGN_IN => Target::Open(Open::SignIn),
            "/metrics" => Target::Guarded(Guarded::Metrics),
            OPENAPI => Target::Guarded(Guarded::Document),
            EVENTS => Target::Guarded(Guarded::Events),
            path => match web_page::asset(path) {
                Some(asset) => Target::Open(Open::Page(asset)),
                None => {
                    let (endpoint, parameters) = route::endpoint(path, method)?;
                    Target::Guarded(Guarded::Endpoint(endpoint, parameters))
                }
            },
        })
    }

    /// The path for the log and the metrics, and the operation.
    fn names(&self) -> (&'static str, &'static str) {
        match self {
            Target::Open(Open::Health) => ("/healthz", "health"),
            Target::Open(Open::Ready) => ("/readyz", "readiness"),
            Target::Open(Open::Page(asset)) => (asset.path, "page"),
            Target::Open(Open::SignIn) => (SIGN_IN, "sign_in"),
            Target::Guarded(Guarded::Metrics) => ("/metrics", "metrics"),
            Target::Guarded(Guarded::Document) => (OPENAPI, "openapi"),
            Target::Guarded(Guarded::Events) => (EVENTS, "events"),
            Target::Guarded(Guarded::Endpoint(endpoint, _)) => (endpoint.path, endpoint.name),
        }
    }

    fn check_method(&self, method: &Method) -> Result<(), Refusal> {
        let (allowed, names) = match self {
            Target::Guarded(Guarded::Endpoint(endpoint, _)) => {
                (endpoint.verbs.allows(method), route::methods(endpoint.path))
            }
            Target::Open(Open::SignIn) => (sign_in::METHODS.contains(method), sign_in::METHOD_NAMES.to_owned()),
            _ => (Verbs::Get.allows(method), Verbs::Get.names().to_owned()),
        };
        if allowed {
            return Ok(());
        }
        let detail = format!("{method}: not for this route; use {names}");
        let mut refusal = Refusal::from(Problem::new(Kind::Method, detail));
        refusal.headers.extend(HeaderValue::from_str(&names).ok().map(|names| (ALLOW, names)));
        Err(refusal)
    }
}

/// True if a browser asks for the API itself, which only programs read.
fn leads_to_page(request: &Request<Incoming>) -> bool {
    let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    request.uri().path().trim_end_matches('/') == "/v1"
        && request.method() == Method::GET
        && accepts.is_some_and(|accepted| accepted.contains("text/html"))
}

/// True for the paths of the protocol for agents, which are served without the API too.
pub(super) fn is_of_protocol(path: &str) -> bool {
    path == "/mcp" || path == "/health"
}

impl Handler {
    /// Answers a request to the API.
    pub(super) async fn answer_api(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
        log: &mut RequestLog,
    ) -> Response<Outgoing> {
        match self.try_api(request, connection, log).await {
            Ok(response) => response,
            Err(refusal) => refusal.response(),
        }
    }

    async fn try_api(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
        log: &mut RequestLog,
    ) -> Result<Response<Outgoing>, Refusal> {
        self.origins
            .check(request.uri(), request.headers(), connection.local.ip())
            .map_err(|(status, reason)| reject(status, reason))?;
        if leads_to_page(&request) {
            let mut response = plain(StatusCode::SEE_OTHER, "");
            response.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
            return Ok(response);
        }
        let target = Target::of(request.uri().path(), request.method());
        if let Ok(target) = &target {
            let (path, name) = target.names();
            log.operation(path, name, None);
            target.check_method(request.method())?;
        }
        let target = match target {
            Ok(Target::Open(open)) => return self.answer_open(open, request, connection).await,
            Ok(Target::Guarded(guarded)) => Ok(guarded),
            Err(problem) => Err(problem),
        };
        let given = token::find(&self.tokens, request.headers())
            .or_else(|| sign_in::of_cookie(&self.tokens, request.headers()));
        let identity = self.identify(given, connection)?;
        log.token.clone_from(&identity.token);
        self.rate_limit.count(identity.client).map_err(too_many_requests)?;
        match target? {
            Guarded::Metrics => self.metrics(&identity, connection).await,
            Guarded::Document => Ok(sent(request.headers(), DOCUMENT.clone(), true)),
            Guarded::Events => Ok(self.events(identity.caller)),
            Guarded::Endpoint(endpoint, inside) => {
                self.call(endpoint, inside, identity, request, connection, log).await
            }
        }
    }

    async fn answer_open(
        &self,
        open: Open,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Result<Response<Outgoing>, Refusal> {
        match open {
            Open::Health => Ok(plain(StatusCode::OK, "ok\n")),
            Open::Ready if self.server.is_ready() => Ok(plain(StatusCode::OK, "ready\n")),
            Open::Ready => Err(Problem::new(Kind::Unavailable, "the first refresh of the index has not ended").into()),
            Open::Page(asset) => Ok(page(request.headers(), asset)),
            Open::SignIn => self.sign_in(request, connection).await,
        }
    }

    async fn call(
        &self,
        endpoint: &'static RegisteredEndpoint,
        inside: JsonObject,
        identity: Identity,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
        log: &mut RequestLog,
    ) -> Result<Response<Outgoing>, Refusal> {
        let share = identity.share(connection);
        self.admit(share)?;
        let (parts, body) = request.into_parts();
        let query = parts.uri.query().unwrap_or_default();
        let mut given = if parts.method == Method::POST {
            let body = self.bodies.read(body).await.map_err(|status| self.unreadable_body(status))?;
            if !body.is_empty() && !is_json(&parts.headers) {
                return Err(Problem::new(Kind::MediaType, "Content-Type: must be application/json").into());
            }
            if !query.is_empty() {
                return Err(Problem::new(
                    Kind::Request,
                    "the parameters of a POST belong into its body, not into the address",
                )
                .into());
            }
            parameters::of_body(&body)?
        } else {
            parameters::of_query(&endpoint.parameters, query)?
        };
        for (name, value) in inside {
            if given.insert(name.clone(), value).is_some() {
                return Err(Problem::new(Kind::Parameter, format!("{name}: is given by the path")).into());
            }
        }
        if self.log_queries {
            log.operation(endpoint.path, endpoint.name, serde_json::to_string(&given).ok());
        }
        connection.mark_active();
        let session = match &identity.token {
            Some(token) => SearchCaller::session(&["http token", token]),
            None => connection.client,
        };
        let sender = Sender { caller: identity.caller, session, share };
        let answering = self.server.answer(sender, endpoint.lane, move |call| endpoint.answer(call, given));
        let answered = tokio::time::timeout(self.request_timeout, answering).await;
        let answered = answered.map_err(|_| {
            Problem::new(Kind::Timeout, "the request took longer than mcp.request_timeout_seconds allows")
        })?;
        let answered = answered.ok_or_else(|| {
            Problem::new(Kind::Internal, "the call failed inside the server; the server's log has the details")
        })??;
        if let Some(kept) = answered.kept {
            self.server.metrics().search(endpoint.path, "", kept);
        }
        Ok(sent(&parts.headers, answered.body, endpoint.tagged && parts.method != Method::POST))
    }

    /// The counts, for a caller who may read everything: they tell of all callers.
    async fn metrics(&self, identity: &Identity, connection: &Arc<Connection>) -> Result<Response<Outgoing>, Refusal> {
        if identity.caller.namespaces.is_some() {
            return Err(Problem::new(
                Kind::Forbidden,
                "metrics tell of all namespaces, and this token opens only some",
            )
            .into());
        }
        connection.mark_active();
        let server = self.server.clone();
        let state = tokio::task::spawn_blocking(move || {
            let summary = server.index().contents().summary()?;
            Ok::<IndexState, tamis::Error>(IndexState {
                phase: match server.background().phase {
                    Phase::Off => "off",
                    Phase::Indexing => "indexing",
                    Phase::Embedding => "embedding",
                    Phase::Fresh => "fresh",
                    Phase::Failed => "failed",
                },
                documents: summary.documents,
                passages: summary.passages,
                active_calls: server.active_calls().count() as u64,
                last_change_ms: summary.last_change_ms,
                embedded: summary.models.into_iter().map(|model| (model.model.id, model.coverage.embedded)).collect(),
            })
        });
        let state = state.await.map_err(|error| Problem::new(Kind::Internal, error.to_string()))?;
        Ok(response(StatusCode::OK, self.server.metrics().text(&state.map_err(Problem::from)?), PROMETHEUS))
    }
}
