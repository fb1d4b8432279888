//! The token that authorizes requests.

use crate::error::GithubError;
use std::fmt;

/// The environment variables that can hold a token. The first one set wins.
pub const TOKEN_VARIABLES: [&str; 2] = ["GITHUB_TOKEN", "GH_TOKEN"];

/// A token for the API. It is never printed, not even by `Debug`, and never written anywhere.
#[derive(Clone)]
pub struct Token {
    authorization: String,
    variable: String,
}

const SCHEME: &str = "Bearer ";

impl Token {
    /// Reads the token from the environment: `GITHUB_TOKEN`, or else `GH_TOKEN`, through `variable`. An empty variable counts as
    /// unset.
    ///
    /// # Errors
    /// The token holds characters that no token has, such as a line break.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, GithubError> {
        for name in TOKEN_VARIABLES {
            if let Some(token) = variable(name).filter(|token| !token.trim().is_empty()) {
                return Token::new(&token, name).map(Some);
            }
        }
        Ok(None)
    }

    /// Creates a token. `variable` names its source in messages.
    ///
    /// # Errors
    /// The token holds characters that no token has, such as a line break.
    pub fn new(token: &str, variable: &str) -> Result<Self, GithubError> {
        let token = token.trim();
        checked(token, variable)?;
        Ok(Token { authorization: format!("{SCHEME}{token}"), variable: variable.to_owned() })
    }

    /// Returns the value of the header.
    pub(super) fn authorization(&self) -> &str {
        &self.authorization
    }

    pub(super) fn variable(&self) -> &str {
        &self.variable
    }

    /// Returns a message without the token.
    pub(super) fn taken_out_of(&self, message: &str) -> String {
        message.replace(self.authorization.trim_start_matches(SCHEME), "…")
    }
}

/// Checks the characters of a token, so that it cannot alter the request.
fn checked(token: &str, variable: &str) -> Result<(), GithubError> {
    let allowed = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    allowed.then_some(()).ok_or_else(|| GithubError::Token { variable: variable.to_owned() })
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Token").field("variable", &self.variable).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(set: &[(&str, &str)]) -> Result<Option<Token>, GithubError> {
        let value = |name: &str| set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
        Token::from_environment(value)
    }

    #[test]
    fn the_first_variable_that_is_set_wins() {
        let variable = |set: &[(&str, &str)]| from(set).expect("valid").map(|token| token.variable);
        assert_eq!(variable(&[("GH_TOKEN", "a"), ("GITHUB_TOKEN", "b")]).as_deref(), Some("GITHUB_TOKEN"));
        assert_eq!(variable(&[("GH_TOKEN", "a"), ("GITHUB_TOKEN", "  ")]).as_deref(), Some("GH_TOKEN"));
        assert_eq!(variable(&[]), None);
        assert_eq!(from(&[("GH_TOKEN", " sesame\n")]).expect("valid").expect("set").authorization(), "Bearer sesame");
    }

    #[test]
    fn trap_a_token_is_not_printed() {
        let token = Token::new("sesame", "GITHUB_TOKEN").expect("valid");
        assert!(!format!("{token:?}").contains("sesame"));
        assert_eq!(token.taken_out_of("bad token sesame"), "bad token …");
        let error = Token::new("sesame\r\nx-other: 1", "GITHUB_TOKEN").expect_err("refused").to_string();
        assert!(error.contains("GITHUB_TOKEN") && !error.contains("sesame"), "{error}");
    }
}
