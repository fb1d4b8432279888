//! Measures reading on one thread: `cargo run --release -p tamis-text --example splitting -- DIRECTORY`.
//!
//! Reads every file that would be indexed into memory first, so that only the division is timed, and takes the best of
//! three passes. Uses the thread's own processor time if the system reports it (Linux), so that other load on the
//! machine does not count.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tamis_text::{Limits, Options, estimate_tokens, read, skip_by_content, skip_by_path};

/// Names and contents.
type Files = Vec<(String, Vec<u8>)>;

#[derive(Default)]
struct Tally {
    files: usize,
    bytes: usize,
    passages: usize,
    tokens: usize,
    largest: usize,
    tiny: usize,
    notes: usize,
    time: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::args().nth(1).ok_or("usage: splitting DIRECTORY")?);
    let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
    let files = load(&root, &mut skipped)?;
    println!("{} files, left out: {skipped:?}", files.len());
    let best = (0..3).map(|_| measure(&files)).min_by_key(total_time).unwrap_or_default();
    println!(
        "{:<17} {:>6} {:>8} {:>9} {:>7} {:>11} {:>6} {:>6} {:>6} {:>6}",
        "language", "files", "MB", "passages", "MB/s", "passages/s", "mean", "max", "tiny", "notes"
    );
    let mut sum = Tally::default();
    for (language, tally) in &best {
        print(language, tally);
        sum.files += tally.files;
        sum.bytes += tally.bytes;
        sum.passages += tally.passages;
        sum.tokens += tally.tokens;
        sum.largest = sum.largest.max(tally.largest);
        sum.tiny += tally.tiny;
        sum.notes += tally.notes;
        sum.time += tally.time;
    }
    print("all", &sum);
    Ok(())
}

fn print(language: &str, tally: &Tally) {
    let megabytes = tally.bytes as f64 / 1e6;
    let seconds = tally.time.as_secs_f64();
    println!(
        "{language:<17} {:>6} {megabytes:>8.2} {:>9} {:>7.1} {:>11.0} {:>6.0} {:>6} {:>6} {:>6}",
        tally.files,
        tally.passages,
        megabytes / seconds,
        tally.passages as f64 / seconds,
        tally.tokens as f64 / tally.passages.max(1) as f64,
        tally.largest,
        tally.tiny,
        tally.notes,
    );
}

/// The time this thread has run, or else the time that has passed.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let scheduled = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = scheduled.and_then(|line| line.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

fn total_time(tallies: &BTreeMap<&'static str, Tally>) -> Duration {
    tallies.values().map(|tally| tally.time).sum()
}

fn measure(files: &Files) -> BTreeMap<&'static str, Tally> {
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for (path, bytes) in files {
        let start = clock();
        let document = read(path, bytes, &Options::default());
        let time = clock().saturating_sub(start);
        let tally = tallies.entry(document.language.unwrap_or("unknown")).or_default();
        tally.time += time;
        tally.files += 1;
        tally.bytes += bytes.len();
        tally.passages += document.passages.len();
        tally.notes += usize::from(!document.notes.is_empty());
        for passage in &document.passages {
            let tokens = estimate_tokens(&passage.text);
            tally.tokens += tokens;
            tally.largest = tally.largest.max(tokens);
            tally.tiny += usize::from(tokens < 10);
        }
    }
    tallies
}

fn load(root: &Path, skipped: &mut BTreeMap<&'static str, usize>) -> Result<Files, Box<dyn Error>> {
    let mut files = Vec::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let mut entries = fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let kind = entry.file_type()?;
            let path = entry.path();
            if kind.is_dir() {
                directories.push(path);
            } else if kind.is_file() {
                let name = path.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
                let by_path = skip_by_path(&name, entry.metadata()?.len(), &Limits::default());
                if let Some(reason) = by_path {
                    *skipped.entry(reason.as_str()).or_default() += 1;
                    continue;
                }
                let bytes = fs::read(&path)?;
                match skip_by_content(&name, &bytes) {
                    Some(reason) => *skipped.entry(reason.as_str()).or_default() += 1,
                    None => files.push((name, bytes)),
                }
            }
        }
    }
    Ok(files)
}
