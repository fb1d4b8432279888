//! The forms of a report for people and spreadsheets: tables, Markdown, CSV and one HTML page.

mod csv;
#[cfg(test)]
mod gallery;
mod html;
mod markdown;
mod table;

pub(crate) use table::difference_cell;
pub use table::{NO_FIGURE, Table};
