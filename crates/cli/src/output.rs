//! Results go to standard output, everything else to standard error, in colour if wanted.
//!
//! Nothing that a printer quotes can control the terminal or hide on it. Only [`Output::exact`] gives programs the
//! exact bytes, and never to a terminal. Long text for people goes through the user's pager, as git's does.

use crate::command_line::{ColorWhen, Global};
use crate::hyperlinks::{self, Links};
use crate::interrupt;
use crate::layout::{self, Page};
use anstream::{AutoStream, ColorChoice};
use console::{Term, measure_text_width};
use owo_colors::OwoColorize;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, PrettyFormatter, Serializer};
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::process::{Command, Stdio};
use tamis::Index;
use tamis_text::sanitize::{SafeJson, SafeWriter, for_terminal};

/// The two streams, and how much to say on them.
#[derive(Clone, Debug)]
pub struct Output {
    color: ColorChoice,
    quiet: bool,
    verbose: bool,
    pages: bool,
}

impl Output {
    /// The streams as the flags want them.
    pub fn new(global: &Global) -> Self {
        let color = match global.color {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        Output { color, quiet: global.quiet, verbose: global.verbose, pages: !global.no_pager }
    }

    /// Standard output for people. A pager shows text longer than the screen.
    pub fn paged(&self) -> Sheet {
        Sheet { pages: self.pages, ..self.styled() }
    }

    /// Standard output for people, never through a pager: for commands that do something and then report it.
    pub fn styled(&self) -> Sheet {
        Sheet { text: Vec::new(), color: self.color, screen: screen(), fits: true, pages: false, links: None }
    }

    /// Standard output for lines without styles, each written as it comes.
    pub fn plain(&self) -> BufWriter<SafeWriter<StdoutLock<'static>>> {
        BufWriter::new(SafeWriter::plain(io::stdout().lock()))
    }

    /// Standard output for programs and for text that must come out byte for byte. A terminal gets only what it can show.
    pub fn exact(&self) -> BufWriter<Box<dyn Write>> {
        let out = io::stdout().lock();
        let terminal = out.is_terminal();
        BufWriter::new(if terminal { Box::new(SafeWriter::plain(out)) } else { Box::new(out) })
    }

    /// Writes an answer: as JSON, or on a sheet for people.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn answer(
        &self,
        json: bool,
        answer: &impl Serialize,
        mut sheet: Sheet,
        print: impl FnOnce(&mut Sheet) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        if json {
            return self.json(answer);
        }
        print(&mut sheet)?;
        Ok(sheet.flush()?)
    }

    /// Writes one value as JSON: indented on a terminal, otherwise on one line.
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

    /// True with `--verbose`.
    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// True if progress may be drawn: standard error is a terminal, and the user did not ask for silence.
    pub fn draws_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// A remark for people.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.stderr(&format!("tamis: {}", for_terminal(message)));
        }
    }

    /// Styled lines that a question is about; `--quiet` does not hide them.
    pub fn show(&self, lines: &str) {
        let mut stream = self.stderr_stream();
        // A closed standard error leaves nowhere to say so.
        let _ = write!(stream, "{lines}");
    }

    /// A warning: the answer is worse than it could be.
    pub fn warn(&self, message: &str) {
        if !self.quiet {
            self.stderr(&format!("tamis: {} {}", "warning:".yellow().bold(), for_terminal(message)));
        }
    }

    /// The reason why the command failed; `--quiet` does not hide it.
    pub fn error(&self, message: &str) {
        self.stderr(&format!("tamis: {} {}", "error:".red().bold(), for_terminal(message)));
    }

    /// An error in the command line itself, before any flag is known.
    pub fn plain_error(message: &str) {
        let output = Output { color: ColorChoice::Auto, quiet: false, verbose: false, pages: false };
        output.error(message);
    }

    fn stderr_stream(&self) -> SafeWriter<AutoStream<io::StderrLock<'static>>> {
        SafeWriter::styled(AutoStream::new(io::stderr().lock(), self.color))
    }

    fn stderr(&self, line: &str) {
        let columns = if io::stderr().is_terminal() { Term::stderr().size_checked() } else { None };
        let line = columns.map_or(Cow::Borrowed(line), |(_, columns)| layout::fitted(line, columns.into()));
        let mut stream = self.stderr_stream();
        // A closed standard error leaves nowhere to say so.
        let _ = writeln!(stream, "{line}");
    }
}

/// Text for people, collected until it is flushed: its length then decides if it needs a pager.
#[derive(Debug)]
pub struct Sheet {
    text: Vec<u8>,
    color: ColorChoice,
    /// Rows and columns of the terminal; `None`: standard output goes elsewhere.
    screen: Option<(usize, usize)>,
    fits: bool,
    pages: bool,
    links: Option<Links>,
}

impl Sheet {
    /// Makes the places of an index links, if the user wants that and a terminal with styles shows them.
    pub fn linked(self, index: &Index) -> Self {
        let is_shown = io::stdout().is_terminal() && styles(self.color) != ColorChoice::Never;
        Sheet { links: if is_shown { Links::from_index(index) } else { None }, ..self }
    }

    /// Lines stay as they are, however long: for text that belongs to a file.
    pub fn verbatim(self) -> Self {
        Sheet { fits: false, ..self }
    }
}

impl Page for Sheet {
    fn columns(&self) -> Option<usize> {
        self.screen.filter(|_| self.fits).map(|(_, columns)| columns)
    }

    fn link(&mut self, namespace: &str, path: &str, at: (u32, u32), text: String) -> String {
        match &mut self.links {
            Some(links) => links.marked(namespace, path, at, text),
            None => text,
        }
    }
}

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.text);
        let text = String::from_utf8_lossy(&text);
        let text = self.columns().map_or(Cow::Borrowed(&*text), |columns| layout::fitted(&text, columns));
        if let Some((rows, columns)) = self.screen.filter(|_| self.pages)
            && is_longer(&text, rows, columns)
            && show_in_pager(&for_pager(&text, self.color, self.links.as_ref())?)?
        {
            return Ok(());
        }
        write_safe(&mut AutoStream::new(io::stdout().lock(), self.color), &text, self.links.as_ref())
    }
}

/// Writes a text for people with its links.
fn write_safe(out: &mut dyn Write, text: &str, links: Option<&Links>) -> io::Result<()> {
    match links {
        Some(links) => links.write(out, text)?,
        None => hyperlinks::safe(out, text)?,
    }
    out.flush()
}

/// What standard output gets of styles.
fn styles(color: ColorChoice) -> ColorChoice {
    match color {
        ColorChoice::Auto => AutoStream::choice(&io::stdout()),
        chosen => chosen,
    }
}

/// Rows and columns of the terminal that standard output is.
fn screen() -> Option<(usize, usize)> {
    let size = if io::stdout().is_terminal() { Term::stdout().size_checked() } else { None };
    size.map(|(rows, columns)| (rows.into(), columns.into()))
}

/// True if the text needs more than the screen, of which the prompt takes one row.
fn is_longer(text: &str, rows: usize, columns: usize) -> bool {
    let columns = columns.max(1);
    text.lines().map(|line| measure_text_width(line).div_ceil(columns).max(1)).sum::<usize>() >= rows
}

/// The text as the terminal would get it: a pager passes its styles on.
fn for_pager(text: &str, color: ColorChoice, links: Option<&Links>) -> io::Result<Vec<u8>> {
    let color = if styles(color) == ColorChoice::Never { ColorChoice::Never } else { ColorChoice::AlwaysAnsi };
    let mut bytes = Vec::with_capacity(text.len());
    write_safe(&mut AutoStream::new(&mut bytes, color), text, links)?;
    Ok(bytes)
}

/// Shows help, through a pager where it is longer than the screen. `text` has styles.
///
/// # Errors
/// Standard output cannot be written.
pub fn show_help(text: &str, pages: bool) -> io::Result<()> {
    let color = ColorChoice::Auto;
    Sheet { text: text.into(), color, screen: screen(), fits: false, pages, links: None }.flush()
}

/// Writes values as JSON on one line each, with hidden characters as escapes.
pub fn json_lines<W: Write>(out: W) -> Serializer<W, SafeJson<CompactFormatter>> {
    Serializer::with_formatter(out, SafeJson(CompactFormatter))
}

/// The variables that name a pager, the strongest first.
const VARIABLES: [&str; 2] = ["TAMIS_PAGER", "PAGER"];

/// The default pager: it ends at once with little text, shows colours, and leaves the text behind.
const DEFAULT: &str = "less -FRX";

/// The program and its arguments; `None` if the user wants no pager.
fn pager_command(variable: impl Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let named = VARIABLES.into_iter().find_map(&variable).unwrap_or_else(|| DEFAULT.to_owned());
    let words = shlex::split(&named).unwrap_or_default();
    match words.first().map(String::as_str) {
        None | Some("" | "cat") => None,
        Some(_) => Some(words),
    }
}

/// Shows the text and waits until the user has read it. Returns `false` if nothing was shown: no pager is wanted, or it
/// cannot be started.
///
/// # Errors
/// The pager's exit status cannot be determined.
pub fn show_in_pager(text: &[u8]) -> io::Result<bool> {
    let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    pager_command(variable).map_or(Ok(false), |words| run_pager(&words, text))
}

fn run_pager(words: &[String], text: &[u8]) -> io::Result<bool> {
    // The program is run directly: no shell reads the variable.
    let mut pager = Command::new(&words[0]);
    pager.args(&words[1..]).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            pager.env(name, value);
        }
    }
    // Ctrl-C belongs to the pager while it runs: ending before it would leave two readers of one keyboard.
    let _ignored = interrupt::Ignored::new();
    let Ok(mut pager) = pager.spawn() else { return Ok(false) };
    if let Some(mut input) = pager.stdin.take() {
        // A reader who has seen enough closes the pipe.
        let _ = input.write_all(text);
    }
    pager.wait()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_is_for_text_that_leaves_no_row_for_the_prompt() {
        assert!(!is_longer("one\ntwo\n", 3, 80) && is_longer("one\ntwo\nthree\n", 3, 80));
        assert!(is_longer(&"x".repeat(200), 3, 80), "a long line takes several rows");
    }

    #[test]
    fn a_pager_gets_styles_and_nothing_that_steers() {
        let text = format!("{} \u{1b}[2Jtext", "bold".bold());
        let shown = |color| String::from_utf8(for_pager(&text, color, None).expect("written")).expect("text");
        assert_eq!(shown(ColorChoice::Never), "bold ␛[2Jtext");
        assert_eq!(shown(ColorChoice::Always), "\u{1b}[1mbold\u{1b}[0m ␛[2Jtext");
    }

    #[test]
    fn the_users_own_variable_names_the_pager() {
        let of = |own: Option<&str>, general: Option<&str>| {
            pager_command(|name| if name == "TAMIS_PAGER" { own } else { general }.map(str::to_owned))
        };
        let words = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(None, None), words(&["less", "-FRX"]));
        assert_eq!(of(None, Some("more -s")), words(&["more", "-s"]));
        assert_eq!(of(Some("less '-P end'"), Some("more")), words(&["less", "-P end"]));
        assert_eq!(of(Some("less; rm x"), None), words(&["less;", "rm", "x"]), "no shell reads it");
        for none in ["", " ", "cat", "'"] {
            assert_eq!(of(Some(none), Some("more")), None, "{none:?}");
        }
    }

    #[test]
    fn a_pager_that_is_missing_shows_nothing() {
        assert!(matches!(run_pager(&["no-such-pager-here".to_owned()], b"text"), Ok(false)));
    }

    #[cfg(unix)]
    #[test]
    fn a_reader_may_stop_before_the_end() {
        let text = "more than any pipe holds\n".repeat(40_000);
        assert!(matches!(run_pager(&["true".to_owned()], text.as_bytes()), Ok(true)));
    }
}
