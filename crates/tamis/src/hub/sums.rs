//! Checksums of files, in the two forms that a hub has.

use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The checksum that a hub has of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    /// The SHA-256 of a large file.
    Sha256(String),
    /// The identifier that git gives to a small file: the SHA-1 of a short head and the content.
    Git(String),
}

impl Sum {
    /// Reads the sum in an `ETag`, or in a list of files.
    pub fn parse(text: &str) -> Option<Sum> {
        let text = text.trim();
        let text = text.strip_prefix("W/").unwrap_or(text).trim_matches('"').to_ascii_lowercase();
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        match text.len() {
            64 => Some(Sum::Sha256(text)),
            40 => Some(Sum::Git(text)),
            _ => None,
        }
    }

    pub fn algorithm(&self) -> &'static str {
        match self {
            Sum::Sha256(_) => "SHA-256",
            Sum::Git(_) => "git identifier",
        }
    }

    pub fn text(&self) -> &str {
        let (Sum::Sha256(text) | Sum::Git(text)) = self;
        text
    }
}

/// Both sums of a file, and its size.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pub bytes: u64,
    pub sha256: String,
    git: String,
}

impl Sums {
    /// Reads a whole file. `stopped` ends that early.
    pub fn from_file(path: &Path, stopped: &dyn Fn() -> bool) -> io::Result<Sums> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut sha256 = Sha256::new();
        let mut git = Sha1::new();
        git.update(format!("blob {bytes}\0").as_bytes());
        let mut buffer = vec![0; 1 << 18];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => {
                    sha256.update(&buffer[..read]);
                    git.update(&buffer[..read]);
                }
            }
            if stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        Ok(Sums { bytes, sha256: hex(&sha256.finalize()), git: hex(&git.finalize()) })
    }

    /// Returns the sum of the same kind.
    pub fn like(&self, sum: &Sum) -> &str {
        match sum {
            Sum::Sha256(_) => &self.sha256,
            Sum::Git(_) => &self.git,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_git_and_sha256sum() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a");
        std::fs::write(&path, "hello\n").expect("written");
        let sums = Sums::from_file(&path, &|| false).expect("read");
        assert_eq!(sums.bytes, 6);
        // `git hash-object` and `sha256sum`.
        assert_eq!(sums.git, "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(sums.sha256, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
        assert!(Sums::from_file(&path, &|| true).is_err());
    }

    #[test]
    fn the_length_of_a_tag_says_its_kind() {
        let (short, long) = ("a".repeat(40), "B".repeat(64));
        assert_eq!(Sum::parse(&format!("\"{short}\"")), Some(Sum::Git(short.clone())));
        assert_eq!(Sum::parse(&format!("W/\"{short}\"")), Some(Sum::Git(short)));
        assert_eq!(Sum::parse(&long), Some(Sum::Sha256("b".repeat(64))));
        for other in ["", "\"abc\"", &"g".repeat(40), &"a".repeat(32)] {
            assert_eq!(Sum::parse(other), None, "{other}");
        }
    }
}
