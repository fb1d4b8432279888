//! `[github]`: waiting and limits of the import from GitHub.

use crate::config::declare::{integer, number, section};
use std::time::Duration;

section! {
    /// Settings of the import from GitHub.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct GithubConfig {
        /// Longest wait, in minutes, for GitHub's rate limit. An import that would wait longer ends; the next one goes on.
        pub max_wait: Duration =
            "github.max_wait_minutes", number(0.0..=1440.0, 15.0).map(|minutes| Duration::from_secs_f64(minutes * 60.0));
        /// Most pull requests whose reviews one import requests, one request each; the next import requests more.
        pub reviews: usize = "github.reviews", integer(0..=1_000_000, 500);
        /// Timeout of a request to GitHub, in seconds.
        pub timeout: Duration = "github.timeout_seconds", integer(1..=600, 30).map(Duration::from_secs);
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
