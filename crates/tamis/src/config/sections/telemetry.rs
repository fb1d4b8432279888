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
    use crate::config::{Config, Origins};

    fn telemetry(file: &str, variables: &[(&str, &str)]) -> Result<super::TelemetryConfig, String> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("config.toml");
        std::fs::write(&path, file).expect("written");
        let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let origins = Origins { user: Some(path), environment, ..Origins::default() };
        Config::load(&origins, None).map(|config| config.telemetry).map_err(|error| error.to_string())
    }

    #[test]
    fn telemetry_is_on_or_off_in_each_form() {
        for file in ["[telemetry]\nrecord = false\n", "[telemetry]\nrecord = \"off\"\n"] {
            let off = telemetry(file, &[]).expect("read");
            assert!(!off.record && off.opened && !off.opened(), "{file}");
        }
        assert!(telemetry("[telemetry]\nqueries = \"on\"\n", &[]).expect("read").queries);
        assert!(!telemetry("", &[("TAMIS_TELEMETRY_RECORD", "false")]).expect("read").record);
        assert!(telemetry("", &[("TAMIS_TELEMETRY_QUERIES", "true")]).expect("read").queries);
        let usual = telemetry("", &[]).expect("read");
        assert!(usual.record && usual.opened() && !usual.queries);

        let error = telemetry("[telemetry]\nrecord = \"maybe\"\n", &[]).expect_err("refused");
        assert!(error.contains("telemetry.record = \"maybe\": must be true or false"), "{error}");
    }
}
