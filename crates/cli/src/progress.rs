//! A run's progress on a terminal's standard error: stage, rate and time left.

use crate::args::local_zone;
use crate::interrupt::{self, Polled};
use crate::output::Output;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use jiff::Timestamp;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tamis::{Observer, Stage};

/// A stage whose length is not known.
const SPINNER: &str = "{spinner} {msg}{done}";

/// Every other stage.
const BAR: &str = "{msg:24} {wide_bar:.cyan/blue} {human_pos}/{human_len}  {rate:>9}  {eta:>4} left";

/// Shows the stages of a run, and stops it at Ctrl-C.
pub struct Progress {
    /// Drawn only after this long, so that a quick run shows nothing.
    delay: Option<Duration>,
    since: Instant,
    output: Output,
    lines: bool,
    bar: Mutex<Option<ProgressBar>>,
    _polled: Polled,
}

impl Progress {
    /// For a run that people asked for: shown at once, and as lines where there is no terminal and more was asked for.
    pub fn at_once(output: &Output) -> Self {
        Self::new(output, Duration::ZERO)
    }

    /// For a run on the way to something else: shown when it takes long enough to wonder.
    pub fn when_slow(output: &Output) -> Self {
        Self::new(output, Duration::from_millis(400))
    }

    fn new(output: &Output, delay: Duration) -> Self {
        let drawn = output.draws_progress();
        Progress {
            delay: drawn.then_some(delay),
            since: Instant::now(),
            output: output.clone(),
            lines: !drawn && output.verbose() && delay.is_zero(),
            bar: Mutex::new(None),
            _polled: Polled::new(),
        }
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn target(&self) -> ProgressDrawTarget {
        match self.delay {
            Some(delay) if self.since.elapsed() >= delay => ProgressDrawTarget::stderr_with_hz(10),
            _ => ProgressDrawTarget::hidden(),
        }
    }

    /// Takes the bar away, so that what is printed next stands on a clean line.
    pub fn clear(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Observer for Progress {
    fn stage(&self, stage: Stage, total: u64) {
        // Nothing else shows for how long a program that waits is silent.
        let waits = matches!(stage, Stage::Wait(_) | Stage::Queue(_)) && self.delay.is_none();
        if self.lines || waits {
            let steps = if total > 0 { format!(" ({total})") } else { String::new() };
            self.output.note(&format!("{}{steps}", name(&stage)));
        }
        if self.delay.is_none() {
            return;
        }
        self.clear();
        let bar = if total == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(total) };
        let bar = bar.with_style(style(total)).with_message(name(&stage));
        bar.set_draw_target(self.target());
        bar.enable_steady_tick(Duration::from_millis(100));
        *self.bar() = Some(bar);
    }

    fn advance(&self, steps: u64) {
        if let Some(bar) = self.bar().as_ref() {
            if bar.is_hidden() {
                bar.set_draw_target(self.target());
            }
            bar.inc(steps);
        }
    }

    fn cancelled(&self) -> bool {
        interrupt::pressed()
    }
}

fn name(stage: &Stage) -> String {
    match stage {
        Stage::Walk => "listing files".into(),
        Stage::Read => "reading files".into(),
        Stage::Publish => "indexing passages".into(),
        Stage::Embed(model) => format!("embedding with {model}"),
        Stage::Import => "importing".into(),
        Stage::Fetch(what) => format!("reading {what}"),
        Stage::Wait(until) => format!("the limit of requests is reached; waiting until {}", clock_time(*until)),
        Stage::Queue(holder) => format!("waiting for {holder}, which is writing this index"),
        Stage::Answer => "answering queries".into(),
        Stage::Calibrate => "calibrating".into(),
        _ => "searching".into(),
    }
}

fn style(total: u64) -> ProgressStyle {
    let template = if total == 0 { SPINNER } else { BAR };
    // A test parses both templates; the default style stands in all the same. Nobody has to be told that a text in memory
    // cannot be written.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style.with_key("done", |state: &ProgressState, out: &mut dyn fmt::Write| {
        if state.pos() > 0 {
            let _ = write!(out, ": {}", HumanCount(state.pos()));
        }
    });
    style.with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = out.write_str(&rate(state.per_sec()));
    })
}

/// A time of this day as clocks show it where the user is.
fn clock_time(moment: Timestamp) -> String {
    moment.to_zoned(local_zone()).strftime("%H:%M:%S").to_string()
}

/// Steps a second, with a decimal where there are few.
fn rate(per_second: f64) -> String {
    if per_second < 10.0 { format!("{per_second:.1}/s") } else { format!("{}/s", HumanCount(per_second as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid_and_show_rate_and_time_left() {
        for template in [SPINNER, BAR] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn rates_are_as_precise_as_they_are_worth() {
        assert_eq!(rate(5.578), "5.6/s");
        assert_eq!(rate(23_456.7), "23,456/s");
    }

    #[test]
    fn stages_have_names_for_people() {
        assert_eq!(name(&Stage::Embed("static".into())), "embedding with static");
    }
}
