//! `[github]`: how patient the import from GitHub is, and how much it asks for.

use super::Read;
use super::keys::Key;
use super::value::{Allowed, Value};
use std::time::Duration;

/// How the import from GitHub asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GithubConfig {
    /// The longest that is waited at a limit of requests before the import ends, for another one to go on.
    pub max_wait: Duration,
    /// Most pull requests whose reviews one import asks for.
    pub reviews: usize,
    /// The time that one request may take.
    pub timeout: Duration,
}

pub(super) fn all() -> impl Iterator<Item = Key> {
    let key = |name: &str, allowed, default, doc: &str| Key {
        name: format!("github.{name}"),
        allowed,
        default,
        doc: doc.to_owned(),
    };
    [
        key(
            "max_wait_minutes",
            Allowed::Number(0.0, 1440.0),
            Value::Number(15.0),
            "longest wait at GitHub's limits of requests; where more is asked for, the import ends and another one goes on",
        ),
        key(
            "reviews",
            Allowed::Integer(0, 1_000_000),
            Value::Integer(500),
            "most pull requests whose reviews one import asks for, a request each; the rest is left for the next one",
        ),
        key(
            "timeout_seconds",
            Allowed::Integer(1, 600),
            Value::Integer(30),
            "longest time that one request to GitHub may take",
        ),
    ]
    .into_iter()
}

pub(super) fn github(read: &Read<'_>) -> GithubConfig {
    GithubConfig {
        max_wait: Duration::from_secs_f64(read.number("github.max_wait_minutes").unwrap_or_default() * 60.0),
        reviews: read.count("github.reviews"),
        timeout: Duration::from_secs(read.count("github.timeout_seconds") as u64),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Origins};
    use std::time::Duration;

    #[test]
    fn minutes_and_seconds_become_times() {
        let flags = [("github.max_wait_minutes", "0.5"), ("github.reviews", "0"), ("github.timeout_seconds", "5")];
        let flags = flags.map(|(key, value)| (key.into(), value.into(), "--test".into()));
        let github = Config::load(&Origins { flags: flags.into(), ..Origins::default() }, None).expect("valid").github;
        assert_eq!((github.max_wait, github.reviews), (Duration::from_secs(30), 0));
        assert_eq!(github.timeout, Duration::from_secs(5));
        assert_eq!(Config::built_in().github.max_wait, Duration::from_secs(900));
    }
}
