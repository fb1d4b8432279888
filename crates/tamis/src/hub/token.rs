//! The token for models that not everybody may read.

use std::fmt;

use crate::error::HubError;

/// The environment variable that holds the token.
const VARIABLE: &str = "HF_TOKEN";

const SCHEME: &str = "Bearer ";

/// A token for the hub. It comes from the environment only. It is never printed, not even by `Debug`, never written anywhere, and
/// never sent to another host than the hub's.
#[derive(Clone)]
pub struct HubToken {
    authorization: String,
}

impl HubToken {
    /// Reads the token from `HF_TOKEN` through `variable`. An empty variable counts as unset.
    ///
    /// # Errors
    /// The token holds characters that no token has, such as a line break.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, HubError> {
        let Some(token) = variable(VARIABLE).filter(|token| !token.trim().is_empty()) else { return Ok(None) };
        let token = token.trim();
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(HubError::Token { variable: VARIABLE });
        }
        Ok(Some(HubToken { authorization: format!("{SCHEME}{token}") }))
    }

    /// Returns the value of the header.
    pub(crate) fn authorization(&self) -> &str {
        &self.authorization
    }

    /// Returns a message without the token.
    pub(crate) fn taken_out_of(&self, message: &str) -> String {
        message.replace(self.authorization.trim_start_matches(SCHEME), "…")
    }
}

impl fmt::Debug for HubToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HubToken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trap_a_token_is_not_printed() {
        let from = |value: &str| HubToken::from_environment(|name| (name == VARIABLE).then(|| value.to_owned()));
        assert!(from("  ").expect("unset").is_none());
        let token = from(" sesame\n").expect("valid").expect("set");
        assert_eq!(token.authorization(), "Bearer sesame");
        assert!(!format!("{token:?}").contains("sesame"));
        assert_eq!(token.taken_out_of("bad sesame"), "bad …");
        let error = from("sesame\r\nx-other: 1").expect_err("refused").to_string();
        assert!(error.contains(VARIABLE) && !error.contains("sesame"), "{error}");
    }
}
