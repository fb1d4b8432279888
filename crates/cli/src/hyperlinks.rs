//! Places that open in an editor when somebody clicks them: links of a terminal, the escape sequence OSC 8.
//!
//! A printer marks the text of a link with a style that takes no columns and that no terminal ever gets, so lines are measured,
//! wrapped and shortened as without links. The sequence takes its place at the very end. Its address comes from a list that nothing
//! printed can add to, so other people's text can at most make a link to a place that has one anyway.

use std::io::{self, Write};

use tamis::Index;
use tamis::config::HyperlinkFormat;
use tamis_text::sanitize::SafeWriter;

use crate::working_directory::WorkingDirectory;

/// Begins a mark: the number of an address follows, or nothing where the link ends.
const MARK: &str = "\u{1b}[8";

/// The links of what is printed.
#[derive(Debug)]
pub struct Links {
    format: HyperlinkFormat,
    directory: WorkingDirectory,
    addresses: Vec<String>,
}

impl Links {
    /// The links to the files of an index, unless the user wants none.
    pub fn from_index(index: &Index) -> Option<Links> {
        let format = index.config().output.hyperlink_format.clone()?;
        Some(Links { format, directory: WorkingDirectory::from_index(index), addresses: Vec::new() })
    }

    /// The text as a link to a line and column of a file, whose path is as printed; without one if there is no such file here.
    pub fn marked(&mut self, namespace: &str, path: &str, (line, column): (u32, u32), text: String) -> String {
        let Some(file) = self.directory.file(namespace, path) else { return text };
        self.addresses.push(self.format.address(&file, line, column));
        format!("{MARK};{}m{text}{MARK}m", self.addresses.len() - 1)
    }

    /// Writes a text with its links. Everything else in it that would steer a terminal is shown, not sent.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some((before, address, after)) = self.next(rest) {
            safe(out, before)?;
            write!(out, "\u{1b}]8;;{address}\u{1b}\\")?;
            rest = after;
        }
        safe(out, rest)
    }

    /// The first mark: the text before it, its address, and the text after it.
    fn next<'t>(&self, text: &'t str) -> Option<(&'t str, &str, &'t str)> {
        text.match_indices(MARK).find_map(|(at, mark)| {
            let (number, after) = text[at + mark.len()..].split_once('m')?;
            let address = match number.strip_prefix(';') {
                Some(number) => self.addresses.get(number.parse::<usize>().ok()?)?,
                None => number.is_empty().then_some("")?,
            };
            Some((&text[..at], address, after))
        })
    }
}

/// Writes text and styles.
pub fn safe(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let mut out = SafeWriter::styled(out);
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::layout::{fitted, shortened};
    use crate::print::text::label;
    use console::measure_text_width;
    use owo_colors::OwoColorize;
    use tamis::config::{Config, Origins};

    /// Links to the files of a directory.
    fn links(root: &std::path::Path) -> Links {
        let flag = ("output.hyperlink_format", "vscode", "--flag");
        let flags = vec![(flag.0.to_owned(), flag.1.to_owned(), flag.2.to_owned())];
        let config = Config::load(&Origins { flags, ..Origins::default() }, None).expect("allowed");
        let format = config.output.hyperlink_format.expect("a format");
        Links { format, directory: WorkingDirectory::at_root(root), addresses: Vec::new() }
    }

    fn written(links: &Links, text: &str) -> String {
        let mut bytes = Vec::new();
        links.write(&mut bytes, text).expect("a vector takes everything");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn a_hostile_path_gets_into_no_sequence() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let path = "a b;\u{1b}]8;;x\u{7}{line}.rs";
        std::fs::write(root.path().join(path), "").expect("written");
        let mut links = links(root.path());
        let text = links.marked("n", path, (7, 3), label(path).purple().to_string());
        let address = format!("vscode://file{}/a%20b%3B%1B%5D8%3B%3Bx%07%7Bline%7D.rs:7:3", root.path().display());
        let shown = "\u{1b}[35ma b;␛]8;;x␇{line}.rs\u{1b}[39m";
        assert_eq!(written(&links, &text), format!("\u{1b}]8;;{address}\u{1b}\\{shown}\u{1b}]8;;\u{1b}\\"));
        assert_eq!(links.marked("n", "issue:12", (1, 1), "issue:12".into()), "issue:12", "no file");
        assert_eq!(links.marked("n", "../..", (1, 1), "..".into()), "..");
        let forged = "\u{1b}[8;99mx\u{1b}[8;-1m\u{1b}[8;\u{1b}]8;;evil://\u{7}";
        assert_eq!(written(&links, forged), "␛[8;99mx␛[8;-1m␛[8;␛]8;;evil://␇");
    }

    #[test]
    fn a_link_takes_no_columns_and_ends_where_its_text_is_cut() {
        let root = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(root.path().join("lock.rs"), "").expect("written");
        let mut links = links(root.path());
        let text = links.marked("n", "lock.rs", (8, 1), "lock.rs:8".purple().to_string());
        let line = format!("{text}  take the lock before anything else");
        assert_eq!(measure_text_width(&text), 9);
        let lines = written(&links, &fitted(&line, 24));
        assert_eq!(lines.matches("]8;;").count(), 2, "{lines:?}");
        let shown = lines.split("\u{1b}]8;;").map(|part| part.split_once('\\').map_or(part, |(_, text)| text));
        assert!(shown.collect::<String>().lines().all(|line| measure_text_width(line) <= 24), "{lines:?}");
        for columns in 0..12 {
            let cut = written(&links, &shortened(&text, columns));
            assert!(cut.matches("]8;;vscode").count() <= cut.matches("]8;;\u{1b}").count(), "{columns}: {cut:?}");
        }
    }
}
