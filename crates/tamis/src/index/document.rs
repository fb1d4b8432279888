//! Reads documents that others made, such as a PDF, on a thread of their own.
//!
//! The readers bound their memory and their work, but the files come from strangers and the libraries are large. A reader that
//! panics or takes too long costs one document.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;
use tamis_text::{Document, Options, Skip};

/// The time that a document may take. The largest books take a few seconds.
const LONGEST: Duration = Duration::from_secs(60);

/// Stack of the thread, in bytes.
const STACK: usize = 16 << 20;

/// [`tamis_text::read_document`] within a time limit. A thread that exceeds it ends by itself, later.
pub(super) fn read_document(path: &str, bytes: &[u8], options: &Options) -> Result<Option<Document>, Skip> {
    if !tamis_text::is_document(path) {
        return tamis_text::read_document(path, bytes, options);
    }
    let (sender, receiver) = sync_channel(1);
    let (path, bytes, options) = (path.to_owned(), bytes.to_vec(), options.clone());
    let work = move || {
        // The receiver is gone only if the time was up.
        let _ = sender.send(tamis_text::read_document(&path, &bytes, &options));
    };
    if Builder::new().name("document".to_owned()).stack_size(STACK).spawn(work).is_err() {
        return Err(Skip::TooMuchWork);
    }
    match receiver.recv_timeout(LONGEST) {
        Ok(read) => read,
        Err(RecvTimeoutError::Timeout) => Err(Skip::TooMuchWork),
        // The thread panicked.
        Err(RecvTimeoutError::Disconnected) => Err(Skip::Damaged),
    }
}
