//! Times by stage.

use std::collections::BTreeMap;
use std::time::Instant;

/// The time that each stage of a search takes, in milliseconds.
pub(crate) struct Stopwatch {
    started: Instant,
    lap: Instant,
    pub(super) laps: BTreeMap<String, f64>,
}

impl Stopwatch {
    pub fn start() -> Self {
        let now = Instant::now();
        Stopwatch { started: now, lap: now, laps: BTreeMap::new() }
    }

    pub fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        self.laps.insert(stage.to_owned(), (now - self.lap).as_secs_f64() * 1000.0);
        self.lap = now;
    }

    pub fn elapsed_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1000.0
    }

    pub fn finish(mut self) -> BTreeMap<String, f64> {
        self.laps.insert("total".to_owned(), self.elapsed_ms());
        self.laps
    }
}
