//! A run's progress on a terminal's standard error: stage, rate and time left.

use crate::interrupt::{self, Polled};
use crate::output::Output;
use console::Term;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tamis::{Observer, Stage};

/// A stage of unknown length.
const SPINNER: &str = "{spinner} {msg}{done}";

/// A stage of known length.
const BAR: &str = "{msg:24} {wide_bar:.cyan/blue} {human_pos}/{human_len}  {rate:>9}  {left:>9}";

/// A download, which counts bytes.
const BYTES: &str = "{msg:24} {wide_bar:.cyan/blue} {bytes}/{total_bytes}  {bytes_per_sec:>12}  {left:>9}";

/// The same if the terminal is too narrow for a bar.
const NARROW_BYTES: &str = "{wide_msg} {bytes}/{total_bytes}";

/// The same if the terminal is too narrow for a bar.
const NARROW: &str = "{wide_msg} {human_pos}/{human_len}";

/// Columns that a bar needs beside its name and figures.
const BAR_COLUMNS: u16 = 70;

/// Shows the stages of a run, and stops it at Ctrl-C.
pub struct Progress {
    /// The wait before anything is drawn, so that a quick run shows nothing; `None`: nothing is drawn.
    delay: Option<Duration>,
    since: Instant,
    output: Output,
    lines: bool,
    bar: Mutex<Option<ProgressBar>>,
    _polled: Polled,
}

impl Progress {
    /// For a run that the user asked for: drawn at once, or written as lines with `--verbose` and without a terminal.
    pub fn at_once(output: &Output) -> Self {
        Self::new(output, Duration::ZERO)
    }

    /// For a run on the way to something else: drawn once it takes long enough to wonder.
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

    /// Removes the bar, so that the next print starts on a clean line.
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
        // Without a bar only this line explains a long silence.
        let waits = matches!(stage, Stage::Queue(_)) && self.delay.is_none();
        if self.lines || waits {
            let steps = if total > 0 { format!(" ({total})") } else { String::new() };
            self.output.note(&format!("{}{steps}", name(&stage)));
        }
        if self.delay.is_none() {
            return;
        }
        self.clear();
        let bar = if total == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(total) };
        let bar = bar.with_style(style(&stage, total)).with_message(name(&stage));
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
        Stage::Download(model) => format!("fetching {model}"),
        Stage::Try(model) => format!("trying {model}"),
        Stage::Queue(holder) => format!("waiting for {holder}, which is writing this index"),
        Stage::Copy(what) => format!("copying {what}"),
        Stage::Compare(namespace) => format!("comparing {namespace}"),
        Stage::Answer => "answering queries".into(),
        Stage::Calibrate => "calibrating".into(),
        _ => "searching".into(),
    }
}

fn style(stage: &Stage, total: u64) -> ProgressStyle {
    let is_narrow = Term::stderr().size_checked().is_some_and(|(_, columns)| columns < BAR_COLUMNS);
    let template = match total {
        0 => SPINNER,
        _ if matches!(stage, Stage::Download(_)) => {
            if is_narrow {
                NARROW_BYTES
            } else {
                BYTES
            }
        }
        _ if is_narrow => NARROW,
        _ => BAR,
    };
    // A test parses every template, so the default style never shows. Writing to a string cannot fail.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style.with_key("done", |state: &ProgressState, out: &mut dyn fmt::Write| {
        if state.pos() > 0 {
            let _ = write!(out, ": {}", HumanCount(state.pos()));
        }
    });
    let style = style.with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = out.write_str(&rate(state.per_sec()));
    });
    style.with_key("left", |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = out.write_str(&left(state.eta(), state.per_sec()));
    })
}

/// Steps a second, with a decimal where there are few; empty before the first step.
fn rate(per_second: f64) -> String {
    match per_second {
        rate if !rate.is_finite() || rate <= 0.0 => String::new(),
        rate if rate < 10.0 => format!("{rate:.1}/s"),
        rate => format!("{}/s", HumanCount(rate as u64)),
    }
}

/// The time left; empty before a rate is known, and within the last second.
fn left(time: Duration, per_second: f64) -> String {
    let known = per_second.is_finite() && per_second > 0.0 && time >= Duration::from_secs(1);
    if known { format!("{:#} left", HumanDuration(time)) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid() {
        for template in [SPINNER, BAR, NARROW, BYTES, NARROW_BYTES] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn rates_are_as_precise_as_they_are_worth() {
        assert_eq!([rate(5.578), rate(23_456.7)], ["5.6/s", "23,456/s"]);
    }

    #[test]
    fn nothing_is_said_of_the_end_before_there_is_a_rate() {
        assert_eq!((rate(0.0), left(Duration::ZERO, 0.0)), (String::new(), String::new()));
        assert_eq!(left(Duration::from_millis(300), 12.0), "", "the last second");
        assert_eq!([left(Duration::from_secs(42), 12.0), left(Duration::from_secs(42), f64::NAN)], ["42s left", ""]);
    }

    #[test]
    fn stages_have_names_for_people() {
        assert_eq!(name(&Stage::Embed("static".into())), "embedding with static");
    }
}
