//! Finds the newest commit of each wanted path in one pass over the log.

use super::command::ask;
use crate::child::Limit;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

/// Each commit begins with two empty items and its time; its paths follow. A merge lists the paths that differ from all its
/// parents, which are those that the merge itself changed. `-O/dev/null` is there because a
/// repository's own setting for the order of paths would name a file.
const LOG: [&str; 15] = [
    "log", "--format=%x00%x00%ct", "--name-only", "-z", "-c", "--no-renames", "--diff-filter=ACMR", "--no-ext-diff",
    "--no-textconv", "--no-show-signature", "--no-notes", "--no-decorate", "--no-color", "--no-mailmap", "-O/dev/null",
];

/// Fills in the times, in seconds since 1970, newest commit first, until every path has one or the history ends.
///
/// # Errors
/// The reason why the log was not read to the end, in words for people. The times read until then are filled in.
pub(super) fn read(
    root: &Path,
    is_top: bool,
    wanted: &mut HashMap<&str, Option<i64>>,
    limit: &Limit<'_>,
) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut arguments = LOG.to_vec();
    arguments.extend(if is_top { &["--no-relative", "HEAD", "--"][..] } else { &["--relative", "HEAD", "--", "."] });
    let mut log = Log { left: wanted.len(), wanted, pending: Vec::new(), empty: 0, time: None, first: false };
    ask(root, &arguments, limit, |bytes| log.take(bytes))
}

/// The log while it is read.
struct Log<'a, 'b> {
    wanted: &'a mut HashMap<&'b str, Option<i64>>,
    /// The number of paths without a time.
    left: usize,
    /// The beginning of an unfinished item.
    pending: Vec<u8>,
    /// The number of empty items just before.
    empty: usize,
    /// The time of the current commit.
    time: Option<i64>,
    /// True until the first path of the commit is read.
    first: bool,
}

impl Log<'_, '_> {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == 0) {
            let mut item = std::mem::take(&mut self.pending);
            item.extend_from_slice(&rest[..end]);
            self.item(&item);
            if self.left == 0 {
                return ControlFlow::Break(());
            }
            rest = &rest[end + 1..];
        }
        self.pending.extend_from_slice(rest);
        ControlFlow::Continue(())
    }

    fn item(&mut self, item: &[u8]) {
        if item.is_empty() {
            self.empty += 1;
            return;
        }
        if std::mem::take(&mut self.empty) >= 2 {
            self.time = std::str::from_utf8(item).ok().and_then(|text| text.trim().parse().ok());
            self.first = true;
            return;
        }
        // In a commit other than a merge, a line break separates the time from the first path.
        let path = if std::mem::take(&mut self.first) { item.strip_prefix(b"\n").unwrap_or(item) } else { item };
        if let (Some(time), Some(slot @ None)) =
            (self.time, self.wanted.get_mut(String::from_utf8_lossy(path).as_ref()))
        {
            *slot = Some(time);
            self.left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_commit_that_names_a_path_counts() {
        // A merge that changed `d` itself, a commit without paths, and two plain ones.
        let log = b"\0\x00300\0\0d\0\0\x00250\0\0\x00200\0\na\0d\0\0\x00100\0\na\0sub/b\x00300\0";
        for size in [1, 3, 1000] {
            let mut wanted: HashMap<&str, Option<i64>> =
                ["a", "sub/b", "d", "300", "none"].map(|path| (path, None)).into();
            let mut reader = Log {
                left: wanted.len(),
                wanted: &mut wanted,
                pending: Vec::new(),
                empty: 0,
                time: None,
                first: false,
            };
            assert!(log.chunks(size).all(|bytes| reader.take(bytes).is_continue()));
            let expected =
                [("a", Some(200)), ("sub/b", Some(100)), ("d", Some(300)), ("300", Some(100)), ("none", None)];
            assert_eq!(wanted, expected.into());
        }

        let mut wanted: HashMap<&str, Option<i64>> = [("a", None)].into();
        let mut reader = Log { left: 1, wanted: &mut wanted, pending: Vec::new(), empty: 0, time: None, first: false };
        assert!(reader.take(b"\0\x00200\0\na\0b\0").is_break());
        assert_eq!(wanted["a"], Some(200));
    }
}
