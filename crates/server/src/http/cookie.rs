//! The cookie of the page: a token that scripts cannot read.
//!
//! The cookie counts only beside the header [`FROM_PAGE`]. A page of another site cannot send that header without asking first, and the
//! server permits no such question, so a cookie alone moves nothing (OWASP, "Cross-Site Request Forgery Prevention", custom request headers).
//! The protocol for agents knows no cookies.

use super::token::{self, Token};
use axum::http::header::{COOKIE, HeaderMap, HeaderName, HeaderValue, ORIGIN};

/// The header of every request that the page makes.
pub(super) const FROM_PAGE: HeaderName = HeaderName::from_static("tamis-page");

const NAME: &str = "tamis_token";

/// Thirty days.
const SECONDS: u32 = 30 * 24 * 60 * 60;

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
pub(super) fn cookie(headers: &HeaderMap, token: Option<&str>) -> Option<HeaderValue> {
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
        assert!(
            cookie(&HeaderMap::new(), None).unwrap().to_str().unwrap().starts_with("tamis_token=; Path=/; Max-Age=0")
        );
    }
}
