//! The parts that are read of a text too large to read as a whole: its beginning, and the lines that tell most.
//!
//! Of a log these are its errors and its end, and of a dump its definitions; the rows after the first ones look like them.

use std::ops::Range;

use crate::languages::{Category, Language};
use crate::lines::{begins_with, has_word};

/// The largest texts that are read as a whole, in bytes: for people, programs in SQL, and tables and logs.
const WHOLE_PROSE: usize = 4 << 20;
const WHOLE_SQL: usize = 1 << 20;
const WHOLE_TABLE: usize = 64 << 10;

/// Bytes read from the beginning, of telling lines, and from the end of a larger text.
const BEGINNING: usize = 64 << 10;
const TELLING: usize = 64 << 10;
const END: usize = 16 << 10;

/// Lines around a telling line.
const AROUND: usize = 1;
/// Most lines of one definition in a dump.
const MOST_OF_DEFINITION: usize = 200;

/// Tables, logs and dumps.
pub const TABLES: &str = "csv jsonl log diff subtitles";

/// Words with which a line of a log reports a fault.
const FAULTS: &str = "error fatal panic exception traceback critical warn fail denied segfault";

/// Words with which a statement of SQL defines something.
const DEFINES: &[&str] = &["create ", "alter ", "comment on ", "grant ", "drop "];

/// Returns `true` if a text in this language is read in part where it is too large to read as a whole.
pub fn is_read_in_parts(language: Option<&Language>) -> bool {
    whole(language).is_some()
}

fn whole(language: Option<&Language>) -> Option<usize> {
    match language? {
        language if has_word(TABLES, language.name) => Some(WHOLE_TABLE),
        language if language.name == "sql" => Some(WHOLE_SQL),
        language if language.category == Category::Prose => Some(WHOLE_PROSE),
        _ => None,
    }
}

/// The rows of a text that are read, in order and apart from each other; `None` for the whole.
pub fn parts(language: Option<&Language>, text: &str) -> Option<Vec<Range<usize>>> {
    let whole = whole(language)?;
    if text.len() <= whole {
        return None;
    }
    let language = language?;
    let rows: Vec<&str> = text.split_inclusive('\n').collect();
    let beginning = if language.category == Category::Prose { WHOLE_PROSE } else { BEGINNING };
    let mut ranges = Vec::new();
    ranges.push(0..fill(rows.iter(), beginning).max(1));
    let mut left = TELLING;
    let mut add = |range: Range<usize>| {
        let bytes: usize = rows[range.clone()].iter().map(|row| row.len()).sum();
        let fits = bytes <= left;
        if fits {
            left -= bytes;
            ranges.push(range);
        }
        fits
    };
    for (row, line) in rows.iter().enumerate() {
        let range = match language.name {
            "log" if reports_fault(line) => row.saturating_sub(AROUND)..(row + 1 + AROUND).min(rows.len()),
            "sql" if DEFINES.iter().any(|word| begins_with(line, word)) => row..end_of_statement(&rows, row),
            _ => continue,
        };
        if !add(range) {
            break;
        }
    }
    if language.name == "log" {
        ranges.push(rows.len() - fill(rows.iter().rev(), END)..rows.len());
    }
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    Some(merged)
}

/// The number of rows that fit into so many bytes.
fn fill<'r>(rows: impl Iterator<Item = &'r &'r str>, most: usize) -> usize {
    let sizes = rows.scan(0, |sum, row| {
        *sum += row.len();
        Some(*sum)
    });
    sizes.take_while(|sum| *sum <= most).count()
}

fn end_of_statement(rows: &[&str], first: usize) -> usize {
    let most = rows.len().min(first + MOST_OF_DEFINITION);
    let end = rows[first..most].iter().position(|row| row.trim_end().ends_with(';'));
    end.map_or(most, |end| first + end + 1)
}

fn reports_fault(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    FAULTS.split(' ').any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Note, Options, read};

    fn texts(path: &str, text: &str) -> Vec<(u32, String)> {
        let document = read(path, text.as_bytes(), &Options::default());
        let lines = text.lines().count();
        assert!(document.notes.iter().any(|note| matches!(note, Note::Part { lines: all, .. } if *all == lines)));
        for passage in &document.passages {
            let rows = (passage.end_line - passage.start_line + 1) as usize;
            let own: Vec<&str> = text.lines().skip(passage.start_line as usize - 1).take(rows).collect();
            assert_eq!(passage.text, own.join("\n"), "the lines have their own numbers");
        }
        document.passages.into_iter().map(|passage| (passage.start_line, passage.text)).collect()
    }

    #[test]
    fn a_large_log_is_read_by_its_beginning_its_faults_and_its_end() {
        let mut lines: Vec<String> = (0..20_000).map(|at| format!("12:00 info the gate {at} is closed")).collect();
        lines[15_000] = "12:00 ERROR gudgeonpin sheared".into();
        lines[19_999] = "12:00 info the keeper left".into();
        let passages = texts("a.log", &lines.join("\n"));
        let held = |words: &str| passages.iter().any(|(_, text)| text.contains(words));
        assert!(held("gate 0 is") && held("gudgeonpin") && held("gate 15001 is") && held("keeper left"));
        assert!(!held("gate 9000 is") && passages.len() < 200, "{}", passages.len());
    }

    #[test]
    fn a_large_dump_is_read_by_its_definitions_and_what_people_read_is_read_as_a_whole() {
        let rows: String = (0..40_000).map(|at| format!("INSERT INTO gates VALUES ({at}, 'closed', 12);\n")).collect();
        let text = format!("CREATE TABLE gates (\n  id INT\n);\n{rows}CREATE TABLE keepers (\n  name TEXT\n);\n{rows}");
        let passages = texts("dump.sql", &text);
        let rows = passages.iter().filter(|(line, _)| *line > 40_000);
        assert!(rows.into_iter().any(|(_, text)| text.contains("keepers") && text.contains("name TEXT")));
        let table: String = (0..9_000).map(|at| format!("{at},closed,12\n")).collect();
        let passages = texts("gates.csv", &format!("gate,state,height\n{table}"));
        assert!(passages.iter().any(|(_, text)| text.contains("gate,state")));
        let text: String = (0..40_000).map(|at| format!("## Part {at}\n\nThe keeper of gate {at}.\n\n")).collect();
        assert!(text.len() > 1 << 20 && text.len() < WHOLE_PROSE);
        let document = read("big.md", text.as_bytes(), &Options::default());
        assert!(document.notes.is_empty());
        assert!(document.passages.last().is_some_and(|last| last.text.contains("gate 39999")));
    }
}
