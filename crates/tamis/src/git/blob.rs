//! Finds the files that still have the content of the last commit.
//!
//! git's own comparison reads the files of the tree, for which a repository can name filters that run. Here files are read as
//! they are, so a file that git would convert (line endings, filters) counts as changed.

use super::command::ask;
use crate::child::Limit;
use crate::file::foreign::read_in;
use rayon::prelude::*;
use sha1::{Digest, Sha1};
use sha2::Sha256;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

/// The longest file that is compared, in bytes. Longer ones cannot be indexed.
const LONGEST: u64 = 1 << 30;

/// Returns the files of the last commit under `root`, with the identifiers of their content.
///
/// # Errors
/// The reason why git gives no answer, in words for people.
pub(super) fn tracked(root: &Path, limit: &Limit<'_>) -> Result<HashMap<String, String>, String> {
    let mut tracked = HashMap::new();
    let mut pending = Vec::new();
    ask(root, &["ls-tree", "-r", "-z", "HEAD"], limit, |bytes| {
        pending.extend_from_slice(bytes);
        let whole = pending.iter().rposition(|&byte| byte == 0).map_or(0, |end| end + 1);
        for line in pending[..whole].split(|&byte| byte == 0) {
            // MODE TYPE IDENTIFIER, a tab, PATH.
            let line = String::from_utf8_lossy(line);
            let Some((kind, path)) = line.split_once('\t') else { continue };
            let mut parts = kind.split(' ').skip(1);
            if let (Some("blob"), Some(identifier)) = (parts.next(), parts.next()) {
                tracked.insert(path.to_owned(), identifier.to_owned());
            }
        }
        pending.drain(..whole);
        ControlFlow::Continue(())
    })?;
    Ok(tracked)
}

/// Returns those of `paths` whose files have the committed content.
pub(super) fn as_committed<'a>(
    root: &Path,
    paths: &[&'a str],
    tracked: &HashMap<String, String>,
    limit: &Limit<'_>,
) -> Vec<&'a str> {
    let until = limit.until;
    let known: Vec<(&str, &String)> = paths.iter().filter_map(|&path| Some((path, tracked.get(path)?))).collect();
    let unchanged = |&(path, identifier): &(&'a str, &String)| {
        if std::time::Instant::now() >= until {
            return None;
        }
        let content = read_in(root, Path::new(path), LONGEST).ok()?;
        is(&content, identifier).then_some(path)
    };
    known.par_iter().filter_map(unchanged).collect()
}

/// Returns `true` if a file's content has this identifier, SHA-1 or SHA-256.
fn is(content: &[u8], identifier: &str) -> bool {
    fn hex<D: Digest>(content: &[u8]) -> String {
        let hash = D::new().chain_update(format!("blob {}\0", content.len())).chain_update(content).finalize();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
    match identifier.len() {
        40 => hex::<Sha1>(content) == identifier,
        64 => hex::<Sha256>(content) == identifier,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_gits() {
        // `printf 'hello\n' | git hash-object --stdin`, in repositories of both kinds.
        assert!(is(b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"));
        assert!(is(b"hello\n", "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"));
        assert!(!is(b"hullo\n", "ce013625030ba8dba906f756967f9e9ca394464a") && !is(b"hello\n", "ce01"));
    }
}
