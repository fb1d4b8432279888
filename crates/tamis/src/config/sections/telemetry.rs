//! `[telemetry]`: recording searches in the index directory.

use crate::config::declare::{flag, section};

section! {
    /// The recording of searches in the index directory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct TelemetryConfig {
        /// Record each search in the index directory, for feedback and guarantees. Nothing is sent anywhere.
        pub record: bool = "telemetry.record", flag(true);
        /// Record the text of queries too, not only its hash.
        pub queries: bool = "telemetry.queries", flag(false);
        /// Record which shown results are opened afterwards (get, related, a resource).
        pub opened: bool = "telemetry.opened", flag(true);
    }
}

impl TelemetryConfig {
    /// Whether openings are recorded, which each belong to a recorded search.
    pub fn opened(&self) -> bool {
        self.record && self.opened
    }
}

#[cfg(test)]
mod tests {
    use crate::config::tests::{flags, given};

    #[test]
    fn telemetry_is_on_or_off_in_each_form() {
        let usual = flags(&[]).expect("read").telemetry;
        assert!(usual.record && usual.opened() && !usual.queries);
        for file in ["[telemetry]\nrecord = false\n", "[telemetry]\nrecord = \"off\"\n"] {
            let off = given(file, "", &[]).expect("read").telemetry;
            assert!(!off.record && off.opened && !off.opened(), "{file}");
        }
        assert!(given("[telemetry]\nqueries = \"on\"\n", "", &[]).expect("read").telemetry.queries);
    }
}
