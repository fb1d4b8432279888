//! What several commands print for people: each printer writes styled text to a page, which fits it to the terminal and drops
//! unwanted styles.

pub mod answer;
pub mod explain;
pub mod plot;
pub mod report;
#[cfg(test)]
pub mod samples;
pub mod table;
pub mod text;

/// The output of a printer without styles, and without a terminal to fit.
#[cfg(test)]
pub fn plain(print: impl FnOnce(&mut dyn crate::layout::Page) -> std::io::Result<()>) -> String {
    let mut written = Vec::new();
    print(&mut written).expect("a vector takes everything");
    anstream::adapter::strip_str(&String::from_utf8(written).expect("text")).to_string()
}

/// The output of a printer without styles, in a terminal of so many columns.
#[cfg(test)]
pub fn plain_in(columns: usize, print: impl FnOnce(&mut dyn crate::layout::Page) -> std::io::Result<()>) -> String {
    let mut page = samples::NarrowPage { columns, text: Vec::new() };
    print(&mut page).expect("a vector takes everything");
    let text = String::from_utf8(page.text).expect("text");
    anstream::adapter::strip_str(&crate::layout::fitted(&text, columns)).to_string()
}
