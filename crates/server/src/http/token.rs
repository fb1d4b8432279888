//! Bearer tokens: which one a request carries, and what the one that holds it may do.

use crate::caller::Caller;
use crate::error::ServeError;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use subtle::{Choice, ConstantTimeEq};

/// A shorter token can be guessed.
const SHORTEST: usize = 16;

/// A longer one is no token of ours and not worth hashing.
const LONGEST: usize = 512;

/// A token that opens a server. The server knows its hash alone.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is called in the log.
    pub name: String,
    sha256: [u8; 32],
    /// What the one that holds it may read and do.
    pub caller: Caller,
}

impl Token {
    /// A token by its SHA-256.
    pub fn hashed(name: impl Into<String>, sha256: [u8; 32], caller: Caller) -> Token {
        Token { name: name.into(), sha256, caller }
    }

    /// A token by its text, which is hashed and forgotten.
    ///
    /// # Errors
    /// The text is too short to be secret, too long, or not of characters that a header can carry.
    pub fn plain(name: impl Into<String>, text: &str, caller: Caller) -> Result<Token, ServeError> {
        let name = name.into();
        if !(SHORTEST..=LONGEST).contains(&text.len()) || !is_token(text) {
            let allowed = format!(
                "{SHORTEST} to {LONGEST} letters, digits and -._~+/=; `tamis mcp token NAME` makes one that nobody guesses"
            );
            return Err(ServeError::Token { name, allowed });
        }
        Ok(Token { name, sha256: hash(text), caller })
    }
}

/// What `b64token` of RFC 6750 allows.
fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte))
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// A fresh token that nobody guesses, and its SHA-256 in hexadecimal digits.
///
/// # Errors
/// The system gives no random bytes.
pub fn fresh_token() -> Result<(String, String), ServeError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| ServeError::Random(error.to_string()))?;
    let token = format!("tamis_{}", hex(&bytes));
    let sha256 = hex(&hash(&token));
    Ok((token, sha256))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The token of a request, by its place in the list. Every one of the list is compared, each in a time that does not
/// depend on how much of it is right.
pub(super) fn find(tokens: &[Token], headers: &HeaderMap) -> Option<usize> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let (scheme, text) = value.to_str().ok()?.split_once(' ')?;
    let text = text.trim_matches(' ');
    if !scheme.eq_ignore_ascii_case("bearer") || text.is_empty() || text.len() > LONGEST || !is_token(text) {
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
    fn what_can_be_guessed_or_not_be_sent_is_refused_without_being_shown() {
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
    fn fresh_tokens_differ_and_open_with_the_hash_that_comes_with_them() {
        let (one, sha256) = fresh_token().unwrap();
        let (other, _) = fresh_token().unwrap();
        assert_ne!(one, other);
        assert_eq!(sha256, hex(&hash(&one)));
        assert!(Token::plain("fresh", &one, Caller::default()).is_ok());
    }
}
