//! A tree to measure on, and the timing of steps.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The size of a tree, and the number of times that its sources were copied.
pub struct Grown {
    pub bytes: u64,
    pub rounds: u32,
}

/// Copies crates' sources until there are about so many bytes of text. Where the sources do not suffice, they come again with some of
/// their words changed, so that no text is there twice.
pub fn grow(tree: &Path, wanted: u64) -> Result<Grown, Box<dyn Error>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let registries = home.ok_or("no home directory")?.join("registry/src");
    let mut crates: Vec<PathBuf> = Vec::new();
    for registry in fs::read_dir(&registries)? {
        crates.extend(fs::read_dir(registry?.path())?.filter_map(|entry| Some(entry.ok()?.path())));
    }
    crates.sort();
    let mut grown = Grown { bytes: 0, rounds: 0 };
    while grown.bytes < wanted {
        let before = grown.bytes;
        let round = tree.join(if grown.rounds == 0 { String::new() } else { format!("again-{}", grown.rounds) });
        for (number, source) in crates.iter().enumerate() {
            if grown.bytes >= wanted {
                break;
            }
            let name = source.file_name().ok_or("no name")?.to_string_lossy().into_owned();
            grown.bytes += copy(source, &round.join(format!("{:03}-{name}", number)), grown.rounds)?;
        }
        if grown.bytes == before {
            return Err("cargo has no sources to copy".into());
        }
        grown.rounds += 1;
    }
    Ok(grown)
}

/// Copies the files of a tree that people write, and returns their size in bytes. In every round but the first, one word in five is
/// another one.
fn copy(from: &Path, to: &Path, round: u32) -> Result<u64, Box<dyn Error>> {
    let mut copied = 0;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            copied += copy(&entry.path(), &target, round)?;
        } else if kind.is_file()
            && [".rs", ".md", ".toml", ".txt", ".c", ".h", ".py"].iter().any(|end| name.ends_with(end))
        {
            let size = entry.metadata()?.len();
            if size < 200_000 {
                fs::create_dir_all(to)?;
                if round == 0 {
                    fs::copy(entry.path(), target)?;
                } else {
                    fs::write(target, reworded(&fs::read(entry.path())?, round))?;
                }
                copied += size;
            }
        }
    }
    Ok(copied)
}

/// Gives one word in five another ending, the same words in a whole round.
fn reworded(text: &[u8], round: u32) -> Vec<u8> {
    const SHORTEST: usize = 4;
    let mut out = Vec::with_capacity(text.len() + text.len() / 20);
    for word in text.chunk_by(|a, b| a.is_ascii_alphabetic() == b.is_ascii_alphabetic()) {
        out.extend_from_slice(word);
        let hash = blake3::hash(word).as_bytes()[0];
        if word.len() >= SHORTEST && word[0].is_ascii_alphabetic() && (u32::from(hash) + round).is_multiple_of(5) {
            out.push(b'a' + (round % 26) as u8);
        }
    }
    out
}

pub fn count(tree: &Path) -> Result<u64, Box<dyn Error>> {
    let mut files = 0;
    for entry in fs::read_dir(tree)? {
        let entry = entry?;
        files += if entry.file_type()?.is_dir() { count(&entry.path())? } else { 1 };
    }
    Ok(files)
}

pub fn stat_all(tree: &Path) -> Result<u64, Box<dyn Error>> {
    let mut size = 0;
    for entry in fs::read_dir(tree)? {
        let entry = entry?;
        size += if entry.file_type()?.is_dir() { stat_all(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(size)
}

pub fn read_and_hash(tree: &Path) -> Result<u64, Box<dyn Error>> {
    let mut read = 0;
    for entry in fs::read_dir(tree)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            read += read_and_hash(&entry.path())?;
        } else {
            let bytes = fs::read(entry.path())?;
            std::hint::black_box(blake3::hash(&bytes));
            read += bytes.len() as u64;
        }
    }
    Ok(read)
}

pub fn timed<T>(work: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<(Duration, T), Box<dyn Error>> {
    let started = Instant::now();
    let value = work()?;
    Ok((started.elapsed(), value))
}

pub fn median(runs: usize, mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..runs {
        times.push(timed(&mut work)?.0);
    }
    times.sort();
    Ok(times[runs / 2])
}

pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
