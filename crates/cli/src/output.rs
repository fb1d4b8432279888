//! Where things are written: results to standard output, everything else to standard error, with colour where wanted.

use crate::args::{ColorWhen, Global};
use anstream::{AutoStream, ColorChoice};
use owo_colors::OwoColorize;
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

/// The two streams and how much to say.
#[derive(Clone, Debug)]
pub struct Output {
    color: ColorChoice,
    quiet: bool,
    verbose: bool,
}

impl Output {
    /// As the flags say.
    pub fn new(global: &Global) -> Self {
        let color = match global.color {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        Output { color, quiet: global.quiet, verbose: global.verbose }
    }

    /// Standard output for people: styles are written by the printers and taken out here where they are not wanted.
    pub fn styled(&self) -> BufWriter<AutoStream<StdoutLock<'static>>> {
        BufWriter::new(AutoStream::new(io::stdout().lock(), self.color))
    }

    /// Standard output as it is, for programs and for text that must come out byte for byte.
    pub fn plain(&self) -> BufWriter<StdoutLock<'static>> {
        BufWriter::new(io::stdout().lock())
    }

    /// One value as JSON: indented on a terminal, on one line otherwise.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut out = self.plain();
        if io::stdout().is_terminal() {
            serde_json::to_writer_pretty(&mut out, value)?;
        } else {
            serde_json::to_writer(&mut out, value)?;
        }
        writeln!(out)?;
        out.flush()?;
        Ok(())
    }

    /// Whether to say more.
    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// Whether progress may be drawn: people watch standard error and want to.
    pub fn draws_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Something that people should know.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.stderr(&format!("tamis: {message}"));
        }
    }

    /// Styled lines that people are asked about, said in any case.
    pub fn show(&self, lines: &str) {
        let mut stream = AutoStream::new(io::stderr().lock(), self.color);
        // There is nowhere left to say that standard error is closed.
        let _ = write!(stream, "{lines}");
    }

    /// Something that makes the answer worse than it could be.
    pub fn warn(&self, message: &str) {
        if !self.quiet {
            self.stderr(&format!("tamis: {} {message}", "warning:".yellow().bold()));
        }
    }

    /// Why the command failed; said in any case.
    pub fn error(&self, message: &str) {
        self.stderr(&format!("tamis: {} {message}", "error:".red().bold()));
    }

    fn stderr(&self, line: &str) {
        let mut stream = AutoStream::new(io::stderr().lock(), self.color);
        // There is nowhere left to say that standard error is closed.
        let _ = writeln!(stream, "{line}");
    }
}
