//! What people read: each printer writes styled text to a stream that takes the styles out where they are not wanted.

pub mod answer;
pub mod calibrate;
pub mod duplicates;
pub mod evidence;
pub mod explain;
pub mod feedback;
pub mod import;
pub mod import_github;
pub mod notes;
pub mod plot;
pub mod related;
pub mod report;
#[cfg(test)]
pub mod samples;
pub mod settings;
pub mod sql;
pub mod stats;
pub mod status;
pub mod table;
pub mod text;
pub mod troubleshoot;
pub mod views;

/// What a printer wrote, without styles.
#[cfg(test)]
pub fn plain(print: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut written = Vec::new();
    print(&mut written).expect("a vector takes everything");
    anstream::adapter::strip_str(&String::from_utf8(written).expect("text")).to_string()
}
