//! `[import]`: putting imported content together.

use crate::config::declare::{number, section};
use std::time::Duration;

section! {
    /// Settings of imports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ImportConfig {
        /// Hours of silence that divide a conversation without session identifiers into sessions.
        pub session_gap: Duration =
            "import.session_gap_hours", number(0.01..=8760.0, 6.0).map(|hours| Duration::from_secs_f64(hours * 3600.0));
    }
}
