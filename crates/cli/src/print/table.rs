//! Plain tables: columns aligned, no borders, no colour.

use super::text::visible;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use std::io::{self, Write};

/// A table in the making.
pub struct Columns {
    table: Table,
}

impl Columns {
    /// With these headings; those that start with `>` name columns of numbers, aligned to the right.
    pub fn new(headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(NOTHING).force_no_tty().set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(headings.iter().map(|heading| one_line(heading.trim_start_matches('>'))));
        for (index, heading) in headings.iter().enumerate() {
            if let (Some(column), true) = (table.column_mut(index), heading.starts_with('>')) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Columns { table }
    }

    /// One more row. What a cell quotes stays on its line and shows as itself.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.add_row(cells.into_iter().map(|cell| one_line(&cell)).collect::<Vec<_>>());
    }

    /// Writes it.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A cell with its spaces, and without the ends of lines that would make two rows of one.
fn one_line(cell: &str) -> String {
    visible(cell).replace(['\n', '\t'], " ")
}
