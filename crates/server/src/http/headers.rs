//! What a request must be before it is read: its host, the page that it comes from, and the size of its body.

use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Uri;
use axum::http::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use axum::http::uri::Authority;
use futures_util::StreamExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Semaphore;
use tokio::time::Sleep;

use crate::api::problem::{Kind, Problem};

// The host names that a server answers to, and the origins whose pages may call it.
//
// A page of another site can make its host name resolve to this machine (DNS rebinding) and then call a server here as if it
// were its own site. Such requests name that site in `Host` and in `Origin`, and are refused by both.

/// The host names and origins that are allowed besides the server's own.
#[derive(Clone, Debug, Default)]
pub(crate) struct OriginPolicy {
    pub hosts: Vec<String>,
    pub origins: Vec<String>,
}

const BAD_HOST: &str = "the request needs exactly one valid Host header";
const OTHER_HOST: &str = "this server does not have this host name; mcp.allowed_hosts can add it";
const OTHER_ORIGIN: &str = "pages of this origin may not call the server; mcp.allowed_origins can allow it";

impl OriginPolicy {
    /// Checks a request that arrived at the address `local`.
    ///
    /// # Errors
    /// There is not one valid host, or the host or the origin is not allowed.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap, local: IpAddr) -> Result<(), Problem> {
        let bad = || Problem::new(Kind::Request, BAD_HOST);
        let host = single(headers, &HOST).ok().flatten().and_then(|host| host.to_str().ok());
        let host: Authority = host.and_then(|text| text.parse().ok()).ok_or_else(bad)?;
        let has_no_port = host.as_str().len() == host.host().len();
        if host.as_str().contains('@') || (host.port_u16().is_none() && !has_no_port) {
            return Err(bad());
        }
        // A host in the request line takes precedence over the header, so both must be right.
        for authority in [Some(&host), uri.authority()].into_iter().flatten() {
            if !self.is_own_or_allowed_host(authority.host(), local) {
                return Err(Problem::new(Kind::Forbidden, OTHER_HOST));
            }
        }
        match single(headers, &ORIGIN) {
            Ok(None) => Ok(()),
            Ok(Some(origin)) if self.is_allowed_origin(origin, &host) => Ok(()),
            _ => Err(Problem::new(Kind::Forbidden, OTHER_ORIGIN)),
        }
    }

    fn is_own_or_allowed_host(&self, host: &str, local: IpAddr) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let local = local.to_canonical();
        let own = match bare.parse::<IpAddr>() {
            // A host that is the address itself needed no name, so it cannot have been rebound.
            Ok(address) => address.to_canonical() == local || (address.is_loopback() && local.is_loopback()),
            Err(_) => local.is_loopback() && bare.eq_ignore_ascii_case("localhost"),
        };
        own || self.hosts.iter().any(|name| name.trim_matches(['[', ']']).eq_ignore_ascii_case(bare))
    }

    fn is_allowed_origin(&self, origin: &HeaderValue, host: &Authority) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        let own = ["http://", "https://"]
            .iter()
            .any(|scheme| origin.strip_prefix(scheme).is_some_and(|rest| rest.eq_ignore_ascii_case(host.as_str())));
        own || self.origins.iter().any(|allowed| allowed.trim_end_matches('/').eq_ignore_ascii_case(origin))
    }
}

/// The value of a header that may occur once.
///
/// # Errors
/// The header occurs more than once.
pub(crate) fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(()),
    }
}

// Bodies of requests, read whole within a time and a size, and bodies of responses, which report their end.

/// Most bytes of all bodies being read. A slow sender takes up only the bytes that it has sent.
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// Reads the bodies of requests.
pub(crate) struct BodyReader {
    /// Most bytes of one body.
    max_bytes: usize,
    timeout: Duration,
    /// Has a permit for each byte that may still be read.
    free_bytes: Semaphore,
}

impl BodyReader {
    pub fn new(max_bytes: usize, timeout: Duration) -> BodyReader {
        BodyReader { max_bytes, timeout, free_bytes: Semaphore::new(MAX_TOTAL_BYTES) }
    }

    /// Reads a whole body.
    ///
    /// # Errors
    /// The body is too long or too slow, it breaks off, or too many others are being read.
    pub async fn read(&self, body: Body) -> Result<Bytes, Problem> {
        let read = match body.size_hint().lower() > self.max_bytes as u64 {
            true => Err(self.too_large()),
            false => tokio::time::timeout(self.timeout, self.collect(body))
                .await
                .unwrap_or_else(|_| Err(Problem::new(Kind::Slow, "the message took too long to arrive"))),
        };
        // The rest of the body stays unread, so the connection cannot be used again.
        read.map_err(|problem| problem.with(CONNECTION, HeaderValue::from_static("close")))
    }

    async fn collect(&self, body: Body) -> Result<Bytes, Problem> {
        let busy = |_| Problem::new(Kind::Unavailable, "too many long messages at once; try again");
        let (mut chunks, mut whole) = (body.into_data_stream(), Vec::new());
        let mut reserved = self.free_bytes.try_acquire_many(0).map_err(busy)?;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| Problem::new(Kind::Request, "the message could not be read"))?;
            if whole.len() + chunk.len() > self.max_bytes {
                return Err(self.too_large());
            }
            let bytes = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
            reserved.merge(self.free_bytes.try_acquire_many(bytes).map_err(busy)?);
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.into())
    }

    fn too_large(&self) -> Problem {
        Problem::new(Kind::TooLarge, format!("a message may have at most {} bytes", self.max_bytes))
    }
}

/// The body of a response. It drops `until_sent` when it ends or the client has left, and ends at the deadline at the latest.
pub(crate) struct ResponseBody<T> {
    pub body: Body,
    pub until_sent: Option<T>,
    pub deadline: Option<Pin<Box<Sleep>>>,
}

impl<T: Unpin> HttpBody for ResponseBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_pending()
            && self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready())
        {
            polled = Poll::Ready(None);
        }
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.until_sent = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::convert::Infallible;
    use std::sync::Arc;

    fn check(names: &OriginPolicy, local: &str, uri: &str, given: &[(&str, &str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        names
            .check(&uri.parse().unwrap(), &headers, local.parse().unwrap())
            .map_or_else(|problem| problem.kind.status().as_u16(), |()| 200)
    }

    #[test]
    fn only_names_of_the_bound_address_and_allowed_names_are_answered() {
        let names = OriginPolicy { hosts: vec!["search.example".into()], origins: vec![] };
        let host = |local, host| check(&names, local, "/mcp", &[("host", host)]);
        for right in [
            "localhost", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000", "127.0.0.2", "search.example",
            "Search.Example:443",
        ] {
            assert_eq!(host("127.0.0.1", right), 200, "{right}");
        }
        for wrong in [
            "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "0.0.0.0",
            "search.example.", "[::]",
        ] {
            assert_eq!(host("127.0.0.1", wrong), 403, "{wrong}");
        }
        for bad in ["", "a b", "user@localhost", "localhost:port", "\u{e9}"] {
            assert_eq!(host("127.0.0.1", bad), 400, "{bad}");
        }
        assert_eq!([host("10.0.0.1", "10.0.0.1:80"), host("::ffff:10.0.0.1", "10.0.0.1:80")], [200, 200]);
        for wrong in ["localhost", "127.0.0.1", "10.0.0.2"] {
            assert_eq!(host("10.0.0.1", wrong), 403, "{wrong}");
        }
        assert_eq!(check(&names, "127.0.0.1", "/mcp", &[]), 400);
        assert_eq!(check(&names, "127.0.0.1", "/mcp", &[("host", "localhost"), ("host", "localhost")]), 400);
        assert_eq!(check(&names, "127.0.0.1", "http://evil.example/mcp", &[("host", "localhost")]), 403);
    }

    #[test]
    fn only_the_servers_own_and_the_allowed_origins_may_call() {
        let names = OriginPolicy { hosts: vec![], origins: vec!["https://app.example:8443".into()] };
        let origin = |origin| check(&names, "127.0.0.1", "/", &[("host", "localhost:8000"), ("origin", origin)]);
        for right in ["http://localhost:8000", "https://app.example:8443"] {
            assert_eq!(origin(right), 200, "{right}");
        }
        for wrong in [
            "null", "", "http://localhost:3000", "http://localhost", "https://app.example", "http://evil.example",
            "file://", "http://localhost:8000.evil.example",
        ] {
            assert_eq!(origin(wrong), 403, "{wrong}");
        }
        let two = [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://localhost")];
        assert_eq!(check(&names, "127.0.0.1", "/", &two), 403);
    }

    #[tokio::test]
    async fn the_guard_is_dropped_at_the_end_of_the_body_or_at_the_deadline() {
        let held = Arc::new(());
        let hold = |body, deadline| {
            Body::new(ResponseBody { body, until_sent: Some(held.clone()), deadline }).into_data_stream()
        };
        let mut short = hold(Body::from("abc"), None);
        assert_eq!(Arc::strong_count(&held), 2);
        assert!(short.next().await.is_some());
        assert_eq!(Arc::strong_count(&held), 1, "after the last frame");

        let deadline = Box::pin(tokio::time::sleep(Duration::from_millis(20)));
        let silent = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let mut silent = hold(silent, Some(deadline));
        assert_eq!(Arc::strong_count(&held), 2);
        let frame = tokio::time::timeout(Duration::from_secs(10), silent.next()).await.expect("in time");
        assert!(frame.is_none());
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
