//! Bearer tokens, and what their holders may do.

use axum::http::header::{AUTHORIZATION, HeaderMap};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::caller::Caller;
use crate::process::ServeError;

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
    fn weak_and_unsendable_tokens_are_refused_without_being_shown_and_fresh_ones_match_their_hash() {
        for text in ["", "hunter2", "fifteen-letters", "a token with spaces in it", "ééééééééé"] {
            let error = Token::plain("env", text, Caller::default()).unwrap_err().to_string();
            assert!(error.contains("16 to 512") && (text.is_empty() || !error.contains(text)), "{error}");
        }
        let (one, sha256) = fresh_token().unwrap();
        let (other, _) = fresh_token().unwrap();
        assert_ne!(one, other);
        assert_eq!(sha256, hex(&hash(&one)));
        assert!(Token::plain("fresh", &one, Caller::default()).is_ok());
    }
}
