//! Where things are written: results to standard output, everything else to standard error, with colour where wanted.
//!
//! Nothing here lets through what would steer a terminal or hide from its reader, whatever a printer quotes. Only
//! [`Output::exact`] gives programs the very bytes, and a terminal never.

use crate::args::{ColorWhen, Global};
use anstream::{AutoStream, ColorChoice};
use owo_colors::OwoColorize;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, PrettyFormatter, Serializer};
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use tamis::text::safe::{SafeJson, SafeWriter, for_terminal};

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
    pub fn styled(&self) -> BufWriter<SafeWriter<AutoStream<StdoutLock<'static>>>> {
        BufWriter::new(SafeWriter::styled(AutoStream::new(io::stdout().lock(), self.color)))
    }

    /// Standard output for lines without styles.
    pub fn plain(&self) -> BufWriter<SafeWriter<StdoutLock<'static>>> {
        BufWriter::new(SafeWriter::plain(io::stdout().lock()))
    }

    /// Standard output for programs and for text that must come out byte for byte. A terminal gets what it can show.
    pub fn exact(&self) -> BufWriter<Box<dyn Write>> {
        let out = io::stdout().lock();
        let terminal = out.is_terminal();
        BufWriter::new(if terminal { Box::new(SafeWriter::plain(out)) } else { Box::new(out) })
    }

    /// One value as JSON: indented on a terminal, on one line otherwise.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut out = self.exact();
        if io::stdout().is_terminal() {
            let formatter = SafeJson(PrettyFormatter::new());
            value.serialize(&mut Serializer::with_formatter(&mut out, formatter))?;
        } else {
            value.serialize(&mut json_lines(&mut out))?;
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
            self.stderr(&format!("tamis: {}", for_terminal(message)));
        }
    }

    /// Styled lines that people are asked about, said in any case.
    pub fn show(&self, lines: &str) {
        let mut stream = self.stderr_stream();
        // There is nowhere left to say that standard error is closed.
        let _ = write!(stream, "{lines}");
    }

    /// Something that makes the answer worse than it could be.
    pub fn warn(&self, message: &str) {
        if !self.quiet {
            self.stderr(&format!("tamis: {} {}", "warning:".yellow().bold(), for_terminal(message)));
        }
    }

    /// Why the command failed; said in any case.
    pub fn error(&self, message: &str) {
        self.stderr(&format!("tamis: {} {}", "error:".red().bold(), for_terminal(message)));
    }

    fn stderr_stream(&self) -> SafeWriter<AutoStream<io::StderrLock<'static>>> {
        SafeWriter::styled(AutoStream::new(io::stderr().lock(), self.color))
    }

    fn stderr(&self, line: &str) {
        let mut stream = self.stderr_stream();
        // There is nowhere left to say that standard error is closed.
        let _ = writeln!(stream, "{line}");
    }
}

/// Writes values as JSON on one line each, with hidden characters as escapes.
pub fn json_lines<W: Write>(out: W) -> Serializer<W, SafeJson<CompactFormatter>> {
    Serializer::with_formatter(out, SafeJson(CompactFormatter))
}
