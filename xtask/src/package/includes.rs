//! Files that code includes when it is compiled. A package must contain them.

use super::directory;
use anyhow::{Context, Result};
use cargo_metadata::Package;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

const MACROS: [&str; 3] = ["include", "include_str", "include_bytes"];

/// Returns one line for each file that the crate's code includes and the package lacks.
///
/// # Errors
/// A source file cannot be read.
pub fn faults(package: &Package, files: &BTreeSet<PathBuf>) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let path = directory(package).join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let tokens: TokenStream = text.parse().map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
        let parent = file.parent().unwrap_or(Path::new(""));
        for name in included(tokens) {
            let is_packed = match resolved(parent, &name.text) {
                None => false,
                // The rest of the name is put together by the compiler: some packed file must begin like that.
                Some(start) if name.is_prefix => files.iter().any(|file| begins(file, &start, &name.text)),
                Some(path) => files.contains(&path),
            };
            if !is_packed {
                let (package, file) = (&package.name, file.display());
                faults.push(format!("{package}: {file} includes {:?}, which its package does not contain", name.text));
            }
        }
    }
    Ok(faults)
}

/// The argument of an including macro.
#[derive(Debug, PartialEq, Eq)]
struct Included {
    text: String,
    /// True for the first part of a `concat!`.
    is_prefix: bool,
}

/// Finds the including macros of a source file, macros within macros too.
fn included(tokens: TokenStream) -> Vec<Included> {
    let mut found = Vec::new();
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let calls = |names: &[&str]| match at.checked_sub(2).map(|start| &tokens[start..at]) {
            Some([TokenTree::Ident(name), TokenTree::Punct(mark)]) => {
                mark.as_char() == '!' && names.iter().any(|included| name == included)
            }
            _ => false,
        };
        if calls(&MACROS) {
            found.extend(argument(group.stream()));
        } else {
            found.extend(included(group.stream()));
        }
    }
    found
}

/// Reads a string, or the first string of a `concat!`.
fn argument(tokens: TokenStream) -> Option<Included> {
    let mut tokens = tokens.into_iter();
    match tokens.next()? {
        TokenTree::Literal(literal) => {
            let text = syn::parse_str::<syn::LitStr>(&literal.to_string()).ok()?.value();
            Some(Included { text, is_prefix: false })
        }
        TokenTree::Ident(name) if name == "concat" => match tokens.nth(1)? {
            TokenTree::Group(group) if group.delimiter() != Delimiter::None => {
                argument(group.stream()).map(|included| Included { is_prefix: true, ..included })
            }
            _ => None,
        },
        _ => None,
    }
}

/// Resolves a path relative to a directory of the crate. `None` when it leaves the crate.
fn resolved(directory: &Path, text: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in directory.join(text).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// Returns true when a file's path begins with `start`, which is a directory when the text ends in a slash.
fn begins(file: &Path, start: &Path, text: &str) -> bool {
    match text.ends_with('/') {
        true => file.starts_with(start),
        false => file.to_string_lossy().starts_with(start.to_string_lossy().as_ref()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(String, bool)> {
        let tokens = source.parse().expect("tokens");
        included(tokens).into_iter().map(|included| (included.text, included.is_prefix)).collect()
    }

    #[test]
    fn including_macros_are_found_anywhere() {
        let source = r#"
            const A: &str = include_str!("a.sql");
            mod m { fn f() { let b = std::include_bytes!("../b.bin"); } }
            macro_rules! c { ($n:literal) => { include_str!(concat!("c/", $n, ".txt")) }; }
            // include_str!("comment.txt")
            const D: &str = "include_str!(\"text.txt\")";
        "#;
        let expected = [("a.sql", false), ("../b.bin", false), ("c/", true)];
        assert_eq!(texts(source), expected.map(|(text, is_prefix)| (text.to_owned(), is_prefix)));
    }

    #[test]
    fn paths_stay_within_the_crate() {
        let path = |directory: &str, text: &str| resolved(Path::new(directory), text);
        assert_eq!(path("src/code", "../../queries/x.scm"), Some("queries/x.scm".into()));
        assert_eq!(path("src", "./schema.sql"), Some("src/schema.sql".into()));
        assert_eq!(path("src", "../../outside.txt"), None);
    }
}
