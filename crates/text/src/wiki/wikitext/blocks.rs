//! Lines: headings, lists, tables, and verbatim blocks.

use super::{BAR, BLOCK, LITERAL, tokens};
use crate::prose::Heading;

/// The first and the last line of a table.
type Span = (usize, usize);

/// The readable lines of a page without marks inside lines, its headings, and its tables whose first line is a header.
pub fn blocks(text: &str, blocks: &[(String, String)]) -> (String, Vec<Heading>, Vec<Span>) {
    let mut writer = Writer::default();
    for line in text.split('\n') {
        writer.line(line, blocks);
    }
    writer.flush();
    while writer.out.last().is_some_and(String::is_empty) {
        writer.out.pop();
    }
    (writer.out.join("\n"), writer.headings, writer.headed)
}

#[derive(Default)]
struct Writer {
    out: Vec<String>,
    headings: Vec<Heading>,
    /// Number of open tables.
    tables: usize,
    /// The tables with a header so far, and whether the last one goes on.
    headed: Vec<Span>,
    goes_on: bool,
    /// The cells of the current row, and the number of those that are a header's.
    row: Vec<String>,
    header_cells: usize,
    /// The numbers of the numbered lists that are open.
    numbers: Vec<usize>,
}

impl Writer {
    fn line(&mut self, line: &str, blocks: &[(String, String)]) {
        if let Some(number) = line.trim().strip_prefix(BLOCK) {
            self.flush();
            if let Some((language, text)) =
                number.trim_end_matches(BLOCK).parse::<usize>().ok().and_then(|number| blocks.get(number))
            {
                self.block(language, text);
            }
            return;
        }
        let line = line.trim_end();
        let begin = line.trim_start();
        if let Some((level, text)) = heading(begin) {
            return self.heading(level, text);
        }
        if begin.trim_start_matches(':').trim_start().starts_with("{|") {
            self.flush();
            self.goes_on = false;
            self.tables += 1;
            return;
        }
        if self.tables > 0 && self.table(begin) {
            return;
        }
        if begin.is_empty() || (begin.len() >= 4 && begin.bytes().all(|byte| byte == b'-')) {
            self.flush();
            self.numbers.clear();
            return self.blank();
        }
        let marks = begin.len() - begin.trim_start_matches(['*', '#', ':', ';']).len();
        if marks > 0 && line.len() == begin.len() {
            self.flush();
            return self.item(&begin[..marks], begin[marks..].trim_start());
        }
        self.numbers.clear();
        if let Some(cell) = self.row.last_mut() {
            cell.push(' ');
            cell.push_str(begin);
            return;
        }
        // Lines that begin with a space are shown verbatim.
        let literal = line.len() > begin.len();
        let text = if literal { finished(line) } else { tidied(&finished(line)) };
        self.push(text);
    }

    /// Reads a line of a table. Returns `true` if it was one.
    fn table(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("|}") {
            self.flush();
            self.goes_on = false;
            self.tables -= 1;
            if !rest.trim().is_empty() {
                self.push(tidied(&finished(rest)));
            }
        } else if line.starts_with("|-") {
            self.flush();
        } else if let Some(caption) = line.strip_prefix("|+") {
            self.flush();
            self.push(tidied(&finished(content(caption))));
        } else if let Some(cells) = line.strip_prefix('!') {
            let before = self.row.len();
            self.row.extend(cells.split("!!").flat_map(|cells| cells.split("||")).map(|cell| content(cell).to_owned()));
            self.header_cells += self.row.len() - before;
        } else if let Some(cells) = line.strip_prefix('|') {
            self.row.extend(cells.split("||").map(|cell| content(cell).to_owned()));
        } else {
            return false;
        }
        true
    }

    /// Ends the current row.
    fn flush(&mut self) {
        let row = std::mem::take(&mut self.row);
        let is_header = std::mem::take(&mut self.header_cells) == row.len();
        let cells: Vec<String> =
            row.iter().map(|cell| tidied(&finished(cell))).filter(|cell| !cell.is_empty()).collect();
        if cells.is_empty() {
            return;
        }
        // A header over one column is a caption, or the name of a group of rows.
        if is_header && cells.len() > 1 && !self.goes_on {
            self.headed.push((self.out.len(), self.out.len()));
            self.goes_on = true;
        } else if let Some(table) = self.headed.last_mut().filter(|_| self.goes_on) {
            table.1 = self.out.len();
        }
        self.push(cells.join(" | "));
    }

    /// A heading also ends whatever table was left open before it.
    fn heading(&mut self, level: usize, text: &str) {
        self.flush();
        self.goes_on = false;
        self.tables = 0;
        self.numbers.clear();
        let text = tidied(&finished(text));
        if text.is_empty() {
            return;
        }
        self.blank();
        let level = level.clamp(2, 6);
        let row = self.out.len();
        self.push(format!("{} {text}", "#".repeat(level)));
        self.headings.push(Heading { first: row, last: row, level, text });
    }

    fn item(&mut self, marks: &str, text: &str) {
        let depth = marks.len().min(8);
        let text = tidied(&finished(text));
        if text.is_empty() {
            return;
        }
        self.numbers.truncate(depth);
        self.numbers.resize(depth, 0);
        let mark = match marks.as_bytes().last() {
            Some(b'*') => "- ".to_owned(),
            Some(b'#') => {
                let number = self.numbers.last_mut().map_or(1, |number| {
                    *number += 1;
                    *number
                });
                format!("{number}. ")
            }
            _ => String::new(),
        };
        let indent = if mark.is_empty() { 0 } else { 2 * (depth - 1) };
        self.push(format!("{}{mark}{text}", " ".repeat(indent)));
    }

    fn block(&mut self, language: &str, text: &str) {
        let text = text.trim_matches('\n').trim_end();
        if text.trim().is_empty() {
            return;
        }
        // A fence must be longer than any in the text.
        let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.out.push(format!("{fence}{language}"));
        self.out.extend(text.split('\n').map(|line| line.replace([LITERAL, BAR, BLOCK], "")));
        self.out.push(fence);
    }

    fn push(&mut self, line: String) {
        if !line.trim().is_empty() {
            self.out.push(line);
        }
    }

    /// One blank line, except at the beginning.
    fn blank(&mut self) {
        if self.out.last().is_some_and(|last| !last.is_empty()) {
            self.out.push(String::new());
        }
    }
}

/// `== Text ==`: the level that both sides have, and the text.
fn heading(line: &str) -> Option<(usize, &str)> {
    let left = line.len() - line.trim_start_matches('=').len();
    let right = line.len() - line.trim_end_matches('=').len();
    let level = left.min(right).min(6);
    (level > 0 && left + right < line.len()).then(|| (level, &line[level..line.len() - level]))
}

/// A cell without the attributes before its bar.
fn content(cell: &str) -> &str {
    let kept = cell.split_once('|').filter(|(attributes, _)| attributes.contains('=') || attributes.trim().is_empty());
    kept.map_or(cell, |(_, content)| content).trim()
}

/// Text with its entities decoded and without signs of our own.
fn finished(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    tokens::decode(text, &mut out);
    if out.contains([LITERAL, BAR, BLOCK]) {
        out = out.replace([LITERAL, BLOCK], "").replace(BAR, "|");
    }
    out
}

/// Text without the gaps that templates left: double spaces, empty brackets, a space before a full stop.
fn tidied(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let tight = matches!(word, "." | "," | ";" | ")") || word.starts_with(")") || out.ends_with('(');
        if !out.is_empty() && !tight {
            out.push(' ');
        }
        out.push_str(word);
    }
    if out.contains('(') {
        out = out.replace("(; ", "(").replace("(;", "(").replace("(, ", "(").replace(" ()", "").replace("()", "");
    }
    out
}
