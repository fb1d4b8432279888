//! The files that the index knows, restricted to some paths, languages and namespaces.

use super::Tree;
use crate::Error;
use crate::collections::SKIPPED;
use crate::file::foreign::Directory;
use crate::index::{is_file, limits};
use crate::languages;
use crate::search::{Context, SearchRequest, scope_of};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use tamis_store::{DocumentState, PathGlobs};
use tamis_text::{Language, Limits, Relation, composed, most_bytes};

/// The files to look at. The default is all files of one's own namespace, or of all where none is one's own.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeScope {
    /// Files, directories or globs under the root, any of them; a leading `!` excludes. Without a slash a name counts at any
    /// depth; a leading `/` ties it to the root.
    pub paths: Vec<String>,
    /// Languages by name or file extension, any of them.
    pub languages: Vec<String>,
    /// The namespace; `None`: one's own, or all.
    pub namespace: Option<String>,
    /// The namespaces that the caller may read; nothing else is read. `None`: all.
    pub allowed_namespaces: Option<Vec<String>>,
}

/// The files in a scope, by namespace and path.
pub(super) struct Listed {
    pub files: Vec<DocumentState>,
    /// Number of files that the index left out for their content, by reason.
    pub left_out: BTreeMap<String, u64>,
}

impl Listed {
    /// A remark on the files that the index leaves out; `None` if there are none.
    pub fn remark(&self) -> Option<String> {
        let kinds = self.left_out.iter().filter(|(kind, _)| !["binary", "empty"].contains(&kind.as_str()));
        let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{count} {}", kind.replace('_', " "))).collect();
        (!kinds.is_empty()).then(|| format!("left out of the index: {}", kinds.join(", ")))
    }
}

impl Tree<'_> {
    /// Lists the files in a scope.
    ///
    /// # Errors
    /// A glob is invalid, a named file is missing or left out, or the namespace does not exist.
    pub(super) fn listed(&self, scope: &TreeScope) -> Result<Listed, Error> {
        let request = SearchRequest {
            namespace: scope.namespace.clone(),
            allowed_namespaces: scope.allowed_namespaces.clone(),
            sharing: Some(false),
            ..SearchRequest::new("")
        };
        let names = scope_of(&Context::of(self.index), &request)?.names;
        let (paths, languages) = (Paths::new(&scope.paths)?, languages::canonical(&scope.languages)?);
        let mut listed = Listed { files: Vec::new(), left_out: BTreeMap::new() };
        let mut named = vec![false; scope.paths.len()];
        for namespace in &names {
            for document in self.index.store.documents(namespace)? {
                if !is_file(&document) || !paths.matches(&document.path) {
                    continue;
                }
                for (path, seen) in scope.paths.iter().zip(&mut named) {
                    *seen = *seen || is_at(path, &document.path);
                }
                if document.collection == SKIPPED {
                    *listed.left_out.entry(document.role).or_default() += 1;
                } else if is_of(&languages, document.language.as_deref()) {
                    listed.files.push(document);
                }
            }
        }
        let missing = scope.paths.iter().zip(named).find(|(path, seen)| !seen && is_plain(path));
        match missing {
            Some((path, _)) if listed.files.is_empty() => Err(self.missing(path, scope)?),
            _ => Ok(listed),
        }
    }

    /// Explains why a named path has no files.
    fn missing(&self, path: &str, scope: &TreeScope) -> Result<Error, Error> {
        let allowed = scope.allowed_namespaces.as_deref();
        let mut error = self.index.not_found(scope.namespace.as_deref(), path.trim_matches('/'), allowed)?;
        if let Error::NotFound { wanted, .. } | Error::LeftOut { wanted, .. } = &mut error {
            path.clone_into(wanted);
        }
        Ok(error)
    }
}

/// Paths and globs, compiled.
struct Paths {
    literal: Vec<String>,
    globs: PathGlobs,
    any: bool,
}

impl Paths {
    fn new(given: &[String]) -> Result<Paths, Error> {
        let excluded = given.iter().filter(|path| path.starts_with('!'));
        let included: Vec<&String> = given.iter().filter(|path| !path.starts_with('!')).collect();
        // A path that has the characters of a glob in its name is found as it is.
        let literal = included.iter().map(|path| composed(path.trim_matches('/')).into_owned()).collect();
        let globs = included.iter().map(|path| (*path).clone()).chain(excluded.cloned()).collect::<Vec<_>>();
        match PathGlobs::new(&globs) {
            Ok(globs) => Ok(Paths { literal, globs, any: included.is_empty() }),
            Err(error) => Err(error.into()),
        }
    }

    fn matches(&self, path: &str) -> bool {
        let literal = || self.literal.iter().any(|literal| *literal == composed(path));
        self.globs.matches(path) || (!self.any && literal())
    }
}

/// True if a path has no characters of a glob and excludes nothing.
fn is_plain(path: &str) -> bool {
    !path.starts_with('!') && !path.contains(['*', '?', '[', '{'])
}

/// True if a document lies at or below a plain path.
fn is_at(given: &str, path: &str) -> bool {
    let (given, path) = (&*composed(given), &*composed(path));
    let plain = given.trim_matches('/');
    let below = |path: &str| path.strip_prefix(plain).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let anywhere = !given.starts_with('/') && !plain.contains('/');
    below(path) || (anywhere && path.split('/').any(|part| part == plain))
}

fn is_of(languages: &[String], language: Option<&str>) -> bool {
    let is = |wanted: &String| language.is_some_and(|language| Language::relation(wanted, language) == Relation::Same);
    languages.is_empty() || languages.iter().any(is)
}

/// The roots of the namespaces, held open.
pub(super) struct Roots {
    directories: BTreeMap<String, io::Result<Directory>>,
    limits: Limits,
}

impl Roots {
    pub fn of(tree: &Tree<'_>) -> Roots {
        let sources = tree.index.sources();
        let open = |root: &Path| Directory::open(root);
        let directories = sources.iter().map(|source| (source.namespace.clone(), open(&source.root))).collect();
        Roots { directories, limits: limits(&tree.index.config.index) }
    }

    /// Reads a file of the tree, never through a link.
    ///
    /// # Errors
    /// The file is missing, no longer a regular file, too large, or unreadable.
    pub fn read(&self, document: &DocumentState) -> io::Result<Vec<u8>> {
        match self.directories.get(&document.namespace) {
            Some(Ok(directory)) => directory.read(Path::new(&document.path), most_bytes(&document.path, &self.limits)),
            Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_file_a_directory_or_a_glob() {
        let matches = |given: &[&str], path: &str| {
            let given: Vec<String> = given.iter().map(|&one| one.to_owned()).collect();
            Paths::new(&given).expect("globs").matches(path)
        };
        assert!(matches(&[], "a.rs") && matches(&["src"], "src/a/b.rs") && matches(&["src/"], "x/src/b.rs"));
        assert!(!matches(&["/src"], "x/src/b.rs") && matches(&["/src"], "src/b.rs"));
        assert!(matches(&["src/*.rs", "!*_test.rs"], "src/a.rs") && !matches(&["src", "!*_test.rs"], "src/a_test.rs"));
        assert!(matches(&["app/[id].tsx"], "app/[id].tsx"), "a name with the characters of a glob");
        assert!(Paths::new(&["a{b".to_owned()]).is_err());
        let decomposed = "U\u{308}ber[1].md";
        assert!(matches(&["Über[1].md"], decomposed) && matches(&[decomposed], "Über[1].md"));
        assert!(is_at("Über", "a/U\u{308}ber/b.md"));
        assert!(is_at("src", "a/src/b.rs") && is_at("/src", "src/b.rs") && !is_at("/src", "a/src/b.rs"));
    }
}
