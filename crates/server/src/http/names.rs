//! By which names a server may be called, and whose pages may call it.
//!
//! A page of another site can have its name resolve to this machine (DNS rebinding) and then speak to a server here as its own
//! site. Its requests name that site in `Host`, and their `Origin` is that site: both are refused.

use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri};
use std::net::IpAddr;

/// The names and origins that are allowed besides the server's own.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub hosts: Vec<String>,
    pub origins: Vec<String>,
}

/// A refusal, with what to do.
pub(super) type Refusal = (StatusCode, &'static str);

const BAD_HOST: Refusal = (StatusCode::BAD_REQUEST, "exactly one valid Host header is needed");
const OTHER_HOST: Refusal =
    (StatusCode::FORBIDDEN, "this server is not called so; its names can be added as mcp.allowed_hosts");
const OTHER_ORIGIN: Refusal =
    (StatusCode::FORBIDDEN, "pages of this origin may not ask; an origin can be allowed as one of mcp.allowed_origins");

impl Names {
    /// Whether a request that came in at the address `local` may be answered.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap, local: IpAddr) -> Result<(), Refusal> {
        let host = single(headers, &HOST).map_err(|()| BAD_HOST)?.ok_or(BAD_HOST)?;
        let host: Authority = host.to_str().ok().and_then(|text| text.parse().ok()).ok_or(BAD_HOST)?;
        let has_no_port = host.as_str().len() == host.host().len();
        if host.as_str().contains('@') || (host.port_u16().is_none() && !has_no_port) {
            return Err(BAD_HOST);
        }
        // What stands in the request's line counts instead of the header: both must be right.
        for authority in [Some(&host), uri.authority()].into_iter().flatten() {
            if !self.is_ours(authority.host(), local) {
                return Err(OTHER_HOST);
            }
        }
        match single(headers, &ORIGIN) {
            Ok(None) => Ok(()),
            Ok(Some(origin)) if self.is_allowed(origin, &host) => Ok(()),
            _ => Err(OTHER_ORIGIN),
        }
    }

    fn is_ours(&self, host: &str, local: IpAddr) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let local = local.to_canonical();
        let own = match bare.parse::<IpAddr>() {
            // An address in place of a name is the one that was dialled: nothing was rebound.
            Ok(address) => address.to_canonical() == local || (address.is_loopback() && local.is_loopback()),
            Err(_) => local.is_loopback() && bare.eq_ignore_ascii_case("localhost"),
        };
        own || self.hosts.iter().any(|name| name.trim_matches(['[', ']']).eq_ignore_ascii_case(bare))
    }

    fn is_allowed(&self, origin: &HeaderValue, host: &Authority) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        let own = ["http://", "https://"]
            .iter()
            .any(|scheme| origin.strip_prefix(scheme).is_some_and(|rest| rest.eq_ignore_ascii_case(host.as_str())));
        own || self.origins.iter().any(|allowed| allowed.trim_end_matches('/').eq_ignore_ascii_case(origin))
    }
}

/// The one value of a header; an error where there are several.
pub(super) fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &Names, local: &str, uri: &str, given: &[(&str, &str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        names
            .check(&uri.parse().unwrap(), &headers, local.parse().unwrap())
            .map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    #[test]
    fn only_the_names_of_the_bound_address_are_ours() {
        let names = Names { hosts: vec!["search.example".into()], origins: vec![] };
        let host = |local, host| check(&names, local, "/mcp", &[("host", host)]);
        for right in [
            "localhost",
            "LOCALHOST:8000",
            "127.0.0.1:8000",
            "[::1]:8000",
            "127.0.0.2",
            "search.example",
            "Search.Example:443",
        ] {
            assert_eq!(host("127.0.0.1", right), 200, "{right}");
        }
        for wrong in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "0.0.0.0",
            "search.example.",
            "[::]",
        ] {
            assert_eq!(host("127.0.0.1", wrong), 403, "{wrong}");
        }
        for bad in ["", "a b", "user@localhost", "localhost:port", "\u{e9}"] {
            assert_eq!(host("127.0.0.1", bad), 400, "{bad}");
        }
        assert_eq!(host("10.0.0.1", "10.0.0.1:80"), 200);
        assert_eq!(host("::ffff:10.0.0.1", "10.0.0.1:80"), 200);
        for wrong in ["localhost", "127.0.0.1", "10.0.0.2"] {
            assert_eq!(host("10.0.0.1", wrong), 403, "{wrong}");
        }
        assert_eq!(check(&names, "127.0.0.1", "/mcp", &[]), 400);
        assert_eq!(check(&names, "127.0.0.1", "/mcp", &[("host", "localhost"), ("host", "localhost")]), 400);
        assert_eq!(check(&names, "127.0.0.1", "http://evil.example/mcp", &[("host", "localhost")]), 403);
    }

    #[test]
    fn only_the_own_origin_and_those_allowed_may_ask() {
        let names = Names { hosts: vec![], origins: vec!["https://app.example:8443".into()] };
        let origin = |origin| check(&names, "127.0.0.1", "/", &[("host", "localhost:8000"), ("origin", origin)]);
        for right in ["http://localhost:8000", "https://app.example:8443"] {
            assert_eq!(origin(right), 200, "{right}");
        }
        for wrong in [
            "null",
            "",
            "http://localhost:3000",
            "http://localhost",
            "https://app.example",
            "http://evil.example",
            "file://",
            "http://localhost:8000.evil.example",
        ] {
            assert_eq!(origin(wrong), 403, "{wrong}");
        }
        let two = [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://localhost")];
        assert_eq!(check(&names, "127.0.0.1", "/", &two), 403);
    }
}
