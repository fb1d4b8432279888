//! Plain tables: aligned columns without borders or colour, narrow enough for the terminal.

use super::text::visible;
use crate::layout::{Page, shortened, shortened_start};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use console::measure_text_width;
use std::io;

/// A cell is never shortened below this many columns.
const NARROWEST: usize = 12;

/// Columns of the padding around a cell.
const PADDING: usize = 2;

/// A table in the making.
pub struct Columns {
    headings: Vec<Heading>,
    rows: Vec<Vec<String>>,
}

struct Heading {
    text: String,
    side: Side,
}

/// The content of a column, which decides its alignment and its shortening.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// Text, whose end goes first.
    Left,
    /// Paths, whose beginning goes first.
    Path,
    /// Names to be typed again, which stay whole.
    Whole,
    /// Numbers, which stay whole.
    Right,
}

impl Columns {
    /// A table with these headings. `>` before a heading marks a column of numbers, aligned to the right; `/` marks a column
    /// of paths, and `=` one of names that are never shortened.
    pub fn new(headings: &[&str]) -> Self {
        let heading = |heading: &&str| {
            let (side, text) = match heading.as_bytes().first() {
                Some(b'>') => (Side::Right, &heading[1..]),
                Some(b'/') => (Side::Path, &heading[1..]),
                Some(b'=') => (Side::Whole, &heading[1..]),
                _ => (Side::Left, *heading),
            };
            Heading { text: one_line(text), side }
        };
        Columns { headings: headings.iter().map(heading).collect(), rows: Vec::new() }
    }

    /// Adds a row. Text in a cell stays on its line, and nothing hidden in it takes effect.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// Writes the table. In a narrow terminal it shortens the widest cells; where that is not enough, each row becomes a
    /// heading with its fields below.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, out: &mut dyn Page) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.headings.len()).map(|column| self.width(column)).collect();
        let limits = match out.columns() {
            None => widths,
            Some(columns) => match self.limits(widths, columns) {
                Some(limits) => limits,
                None => return self.write_paragraphs(out),
            },
        };
        let mut table = Table::new();
        table.load_style(NOTHING).force_no_tty().set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.headings.iter().map(|heading| heading.text.as_str()));
        for (column, heading) in self.headings.iter().enumerate() {
            if let (Some(column), Side::Right) = (table.column_mut(column), heading.side) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for row in &self.rows {
            let cells = row.iter().zip(&self.headings).zip(&limits);
            table.add_row(cells.map(|((cell, heading), limit)| match heading.side {
                Side::Path => shortened_start(cell, *limit),
                Side::Left | Side::Whole | Side::Right => shortened(cell, *limit),
            }));
        }
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| measure_text_width(cell));
        cells.fold(measure_text_width(&self.headings[column].text), usize::max)
    }

    /// The widths of the columns if the table fits; `None` if it does not fit even with short cells.
    fn limits(&self, mut widths: Vec<usize>, columns: usize) -> Option<Vec<usize>> {
        let mut over = (widths.iter().sum::<usize>() + PADDING * widths.len()).saturating_sub(columns + 1);
        while over > 0 {
            let can_shrink = |column: &usize| {
                matches!(self.headings[*column].side, Side::Left | Side::Path)
                    && widths[*column] > NARROWEST.max(measure_text_width(&self.headings[*column].text))
            };
            let widest = (0..widths.len()).filter(can_shrink).max_by_key(|column| widths[*column])?;
            widths[widest] -= 1;
            over -= 1;
        }
        Some(widths)
    }

    /// Each row as a heading, its numbers in a grid of names and values, and a line for each text.
    fn write_paragraphs(&self, out: &mut dyn Page) -> io::Result<()> {
        let is_number = |column: usize| self.headings[column].side == Side::Right;
        let names = self.headings.iter().skip(1).map(|heading| measure_text_width(heading.text.trim()));
        let name = names.max().unwrap_or(0);
        let numbers = self.rows.iter().flat_map(|row| row.iter().enumerate().filter(|(column, _)| is_number(*column)));
        let value = numbers.map(|(_, cell)| measure_text_width(cell.trim())).max().unwrap_or(0);
        let in_line = (out.columns_after(4, usize::MAX).saturating_add(PADDING) / (name + value + 2 + PADDING)).max(1);
        let room = out.columns_after(4 + name + PADDING, usize::MAX);
        for row in &self.rows {
            let cells: Vec<(usize, &str, &str)> = (0..self.headings.len())
                .map(|column| (column, self.headings[column].text.trim(), row[column].trim()))
                .filter(|(.., cell)| !cell.is_empty())
                .collect();
            let (head, fields): (Vec<_>, Vec<_>) =
                cells.into_iter().partition(|(column, heading, _)| *column == 0 || heading.is_empty());
            out.line(&format!(" {}", head.iter().map(|(.., cell)| *cell).collect::<Vec<_>>().join("  ")), 4)?;
            let (numbers, texts): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(column, ..)| is_number(*column));
            for line in numbers.chunks(in_line) {
                let pairs = line.iter().map(|(_, heading, cell)| format!("{heading:<name$}  {cell:>value$}"));
                writeln!(out, "    {}", pairs.collect::<Vec<_>>().join("  ").trim_end())?;
            }
            for (column, heading, cell) in texts {
                let cell = match self.headings[column].side {
                    Side::Path => shortened_start(cell, room),
                    Side::Left | Side::Whole | Side::Right => shortened(cell, room),
                };
                writeln!(out, "    {heading:<name$}  {cell}")?;
            }
        }
        Ok(())
    }
}

/// A cell with its spaces, but without line ends, which would make two rows of one.
fn one_line(cell: &str) -> String {
    visible(cell).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::super::{plain, plain_in};
    use super::*;

    fn sample() -> Columns {
        let mut table = Columns::new(&["model", ">passages", "/path"]);
        table.row(["static-256".into(), "9,000".into(), "crates/embed/src/local/static.rs".into()]);
        table.row(["minilm".into(), "12".into(), "crates/embed/src/local/minilm.rs".into()]);
        table
    }

    #[test]
    fn without_a_terminal_every_cell_is_whole() {
        insta::assert_snapshot!(plain(|out| sample().write(out)), @r"
         model       passages  path
         static-256     9,000  crates/embed/src/local/static.rs
         minilm            12  crates/embed/src/local/minilm.rs
        ");
    }

    #[test]
    fn a_narrow_terminal_shortens_the_widest_cells() {
        insta::assert_snapshot!(plain_in(44, |out| sample().write(out)), @r"
         model       passages  path
         static-256     9,000  …/src/local/static.rs
         minilm            12  …/src/local/minilm.rs
        ");
    }

    #[test]
    fn a_name_to_be_typed_again_stays_whole() {
        let mut table = Columns::new(&["=origin", "namespace"]);
        table.row(["gitlab:gitlab.example/tools/engine".into(), "a-long-namespace-of-its-own".into()]);
        assert!(plain_in(56, |out| table.write(out)).contains("gitlab:gitlab.example/tools/engine  a-long-"));
    }

    #[test]
    fn a_very_narrow_terminal_gets_fields_below_each_other() {
        insta::assert_snapshot!(plain_in(30, |out| sample().write(out)), @r"
         static-256
            passages  9,000
            path
              …src/local/static.rs
         minilm
            passages     12
            path
              …src/local/minilm.rs
        ");
    }
}
