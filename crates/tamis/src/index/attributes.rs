//! What `.gitattributes` says of files: which ones a program wrote or another project did, their language and their encoding.
//!
//! Patterns are those of ignore files, but a directory's own does not cover what is in it, and of two rules the later one wins.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::Path;

/// The file with the rules of a directory.
pub(super) const FILE: &str = ".gitattributes";

/// The most rules of a file that count.
const MOST_RULES: usize = 1_000;

/// The attributes of a file, where a rule sets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileAttributes {
    pub generated: Option<bool>,
    pub vendored: Option<bool>,
    /// The name of its language.
    pub language: Option<String>,
    /// Its encoding in the tree, if that is not UTF-8.
    pub encoding: Option<String>,
}

impl FileAttributes {
    /// Adds what another rule sets, where none did so far.
    fn complete(&mut self, other: &FileAttributes) {
        self.generated = self.generated.or(other.generated);
        self.vendored = self.vendored.or(other.vendored);
        self.language = self.language.take().or_else(|| other.language.clone());
        self.encoding = self.encoding.take().or_else(|| other.encoding.clone());
    }

    /// A number of these attributes, 0 without any, so that a file is read again when they change.
    pub fn mark(&self) -> i64 {
        if *self == FileAttributes::default() {
            return 0;
        }
        let hash = blake3::hash(format!("{self:?}").as_bytes());
        hash.as_bytes().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
    }
}

/// The rules of one file, in its order.
#[derive(Debug, Default)]
pub(super) struct AttributeRules(Vec<(Gitignore, FileAttributes)>);

impl AttributeRules {
    /// Reads the rules for a directory. Lines that set none of the attributes above, or that are invalid, are passed over.
    pub fn parse(directory: &Path, text: &str) -> AttributeRules {
        let lines = text.trim_start_matches('\u{feff}').lines();
        AttributeRules(lines.filter_map(|line| rule(directory, line)).take(MOST_RULES).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what the rules say of a file to what stronger ones said.
    pub fn apply(&self, path: &Path, attributes: &mut FileAttributes) {
        for (pattern, set) in self.0.iter().rev() {
            if pattern.matched(path, false).is_ignore() {
                attributes.complete(set);
            }
        }
    }
}

/// `gen/** linguist-generated=true`, or a pattern in quotes.
fn rule(directory: &Path, line: &str) -> Option<(Gitignore, FileAttributes)> {
    let line = line.trim();
    let (pattern, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_once(char::is_whitespace)?,
    };
    // A comment, a macro, or a pattern that git does not take.
    if pattern.is_empty() || pattern.starts_with(['#', '!', '[']) || pattern.ends_with('/') {
        return None;
    }
    let mut set = FileAttributes::default();
    for word in rest.split_whitespace() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.trim_start_matches(['-', '!']), None),
        };
        let flag = match value {
            Some(value) => !value.eq_ignore_ascii_case("false"),
            None => !word.starts_with(['-', '!']),
        };
        match name {
            "linguist-generated" => set.generated = Some(flag),
            "linguist-vendored" => set.vendored = Some(flag),
            "linguist-language" => set.language = value.map(str::to_owned),
            "working-tree-encoding" => set.encoding = value.map(str::to_owned),
            _ => {}
        }
    }
    if set == FileAttributes::default() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(directory);
    builder.add_line(None, pattern).ok()?;
    Some((builder.build().ok()?, set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rule_that_matches_decides_each_attribute() {
        let rules = AttributeRules::parse(
            Path::new("/tree"),
            "\u{feff}# note\n[attr]foo bar\n*.api text linguist-generated linguist-language=Rust\ngen/** linguist-generated=true\n\
             gen/own.rs -linguist-generated\n\"a b.txt\" working-tree-encoding=UTF-16LE\nlib linguist-vendored\n/only.c linguist-vendored\n*.md text\n",
        );
        let of = |path: &str| {
            let mut attributes = FileAttributes::default();
            rules.apply(&Path::new("/tree").join(path), &mut attributes);
            attributes
        };
        let generated = |flag| FileAttributes { generated: Some(flag), ..FileAttributes::default() };
        let vendored = || FileAttributes { vendored: Some(true), ..FileAttributes::default() };
        assert_eq!(of("x/y.api"), FileAttributes { language: Some("Rust".into()), ..generated(true) });
        assert_eq!((of("gen/a/b.rs"), of("gen/own.rs")), (generated(true), generated(false)));
        assert_eq!(of("a b.txt").encoding.as_deref(), Some("UTF-16LE"));
        assert_eq!((of("lib"), of("only.c")), (vendored(), vendored()));
        for path in ["lib/a.c", "x/only.c", "README.md"] {
            assert_eq!((of(path).mark(), of(path)), (0, FileAttributes::default()), "{path}");
        }
        assert_ne!(of("gen/a.rs").mark(), of("gen/own.rs").mark());
    }
}
