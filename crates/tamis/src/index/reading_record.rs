//! The record of the files that are being read, so that the run after a killed one knows what may have killed it.
//!
//! Parsers are bounded, and still a file can end the process that reads it: the system kills it for its memory, or a library
//! aborts. The next run has a process of its own read such a file first, and leaves it out if that ends too.

use crate::file::foreign::read_regular;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tamis_text::Options;

/// The name of the file in the directory of the index.
const FILE: &str = "reading";

/// The room for the place of a file, in bytes. A longer one is not recorded.
const ROOM: usize = 4 << 10;

/// Most places of a record that are believed.
const MOST: u64 = 1_024;

/// The largest file that a configuration can allow, in bytes.
const LARGEST: u64 = 1 << 30;

/// The time that the process of its own gets, and between two looks at it.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The files that a run is reading, one for each thread, and those that the run before was reading when it was killed.
#[derive(Debug)]
pub(super) struct ReadingRecord {
    path: PathBuf,
    file: Mutex<File>,
    suspects: Vec<String>,
}

impl ReadingRecord {
    /// Opens the record of an index. `None` where nothing can be written: such a run is as good as the others, but not remembered.
    pub fn open(directory: &Path) -> Option<Self> {
        let path = directory.join(FILE);
        let left = read_regular(&path, MOST * ROOM as u64).unwrap_or_default();
        let mut suspects: Vec<String> = left.chunks(ROOM).filter_map(place).collect();
        suspects.sort();
        suspects.dedup();
        if !left.is_empty() {
            // Whatever has the name is replaced.
            fs::remove_file(&path).ok()?;
        }
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path).ok()?;
        let record = ReadingRecord { path, file: Mutex::new(file), suspects };
        // They stay on record until the end of this run, which can be killed too.
        let after = rayon::current_num_threads() + 1;
        for (index, suspect) in record.suspects.iter().enumerate() {
            record.write(after + index, suspect).ok()?;
        }
        Some(record)
    }

    /// Reads a file, which is on record meanwhile.
    pub fn reading<T>(&self, place: &str, read: impl FnOnce() -> T) -> T {
        let slot = rayon::current_thread_index().map_or(0, |thread| thread + 1);
        // Without its place on record a file is read all the same.
        let _ = self.write(slot, place);
        let result = read();
        let _ = self.write(slot, "");
        result
    }

    /// Returns `true` if the process that read this file may have been killed by it, and another one does not survive it either.
    pub fn is_deadly(&self, place: &str, file: &Path) -> bool {
        self.suspects.binary_search_by(|suspect| suspect.as_str().cmp(place)).is_ok() && !survives(file)
    }

    /// Ends a run that has read everything.
    pub fn end(self) {
        drop(self.file);
        let _ = fs::remove_file(&self.path);
    }

    fn write(&self, slot: usize, place: &str) -> io::Result<()> {
        if place.len() + size_of::<u32>() > ROOM {
            return Ok(());
        }
        let mut bytes = (place.len() as u32).to_le_bytes().to_vec();
        bytes.extend(place.as_bytes());
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start((slot * ROOM) as u64))?;
        file.write_all(&bytes)
    }
}

/// The place that a part of the record holds.
fn place(part: &[u8]) -> Option<String> {
    let (length, mut rest) = part.split_first_chunk()?;
    let length = u32::from_le_bytes(*length);
    let mut place = String::new();
    rest.by_ref().take(u64::from(length)).read_to_string(&mut place).ok()?;
    (length > 0 && place.len() == length as usize).then_some(place)
}

/// Returns `true` if another process can read a file. A program that is not ours cannot be asked.
fn survives(file: &Path) -> bool {
    let Ok(program) = std::env::current_exe() else { return false };
    if program.file_stem().is_none_or(|name| name != "tamis") {
        return false;
    }
    let mut command = Command::new(program);
    command.args(["index", "--try-file"]).arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Ok(Some(status)) => return status.success(),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// Reads a file as a run does, for a run that fears it, and keeps nothing of it.
///
/// # Errors
/// It is no regular file, or larger than any that is read.
pub fn try_file(path: &Path) -> io::Result<()> {
    let bytes = read_regular(path, LARGEST)?;
    let (name, options) = (path.to_string_lossy(), Options::default());
    if let Ok(None) = tamis_text::read_document(&name, &bytes, &options) {
        let _ = tamis_text::read(&name, &bytes, &options);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_being_read_is_suspected_until_a_run_ends() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let open = || ReadingRecord::open(directory.path()).expect("a record");
        let first = open();
        assert_eq!(first.reading("api\0done.rs", || 7), 7);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        // The record of a killed run is what was written until then.
        let killed = first.reading("api\0main.rs", || {
            pool.install(|| {
                first.reading("api\0deadly.pdf", || fs::read(directory.path().join(FILE)).expect("a record"))
            })
        });
        first.end();
        assert!(!directory.path().join(FILE).exists());
        assert!(open().suspects.is_empty());
        fs::write(directory.path().join(FILE), killed).expect("written");
        for _ in 0..2 {
            assert_eq!(open().suspects, ["api\0deadly.pdf", "api\0main.rs"], "also after a run that was killed before");
        }
        let record = open();
        // This program cannot be asked to read a file, so what was being read counts.
        assert!(record.is_deadly("api\0main.rs", Path::new("main.rs")));
        assert!(!record.is_deadly("api\0done.rs", Path::new("done.rs")));
        record.end();
        fs::write(directory.path().join(FILE), [255; 5_000]).expect("written");
        assert!(open().suspects.is_empty(), "nonsense");
    }
}
