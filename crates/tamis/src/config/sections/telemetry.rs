//! `telemetry` and `telemetry_text`: recording searches in the index directory.

use crate::config::declare::{choice, flag, section};

section! {
    /// The recording of searches in the index directory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TelemetryConfig {
        /// Record each search in the index directory, for feedback and guarantees. Nothing is sent anywhere.
        pub record: bool = "telemetry", choice(&["on", "off"], "on").map(|word| word != "off");
        /// Record the text of queries too, not only its hash.
        pub text: bool = "telemetry_text", flag(false);
    }
}
