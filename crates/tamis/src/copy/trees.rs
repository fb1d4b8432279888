//! The trees of the copied namespaces. A copy writes files as an indexing run does, under the same rule: a namespace keeps its
//! tree, and the files of another one are refused before anything is written.

use crate::Error;
use crate::handle::{SOURCES_PROPERTY, plain, stored_roots};
use crate::machine::machine_name;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use tamis_store::{Namespace, Store, StoreError, Tree};

/// A store, and where it lies.
pub(super) struct Side<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// The directory that an index moves with, from which it names its trees. `None`: the store names them from the root.
    pub base: Option<PathBuf>,
}

impl<'a> Side<'a> {
    /// A store that names its trees from the root, as a database does.
    pub fn new(store: &'a dyn Store) -> Side<'a> {
        Side { store, base: None }
    }

    /// Where a tree is, from the root. `None` for a place that only the index itself can name.
    fn whole(&self, root: &Path) -> Option<PathBuf> {
        let whole = self.base.as_deref().map_or_else(|| root.to_owned(), |base| plain(&base.join(root)));
        whole.is_absolute().then_some(whole)
    }

    /// The name by which the store knows a place.
    fn own(&self, whole: &Path) -> String {
        let inside = self.base.as_deref().and_then(|base| whole.strip_prefix(base).ok());
        let root: PathBuf = match inside {
            Some(inside) => Path::new(".").join(inside).components().collect(),
            None => whole.to_owned(),
        };
        root.to_string_lossy().into_owned()
    }
}

/// Both sides of a copy.
pub(super) struct Copied<'a> {
    pub from: &'a Side<'a>,
    pub to: &'a Side<'a>,
    /// True if the user names the tree, which then lies at its path on every machine.
    pub is_named: bool,
}

impl Copied<'_> {
    /// Makes the trees of the source those of the namespaces at the destination. Returns how many namespaces had no tree.
    ///
    /// # Errors
    /// A namespace of the destination holds the files of another tree.
    pub fn claim(&self, namespaces: &[Namespace]) -> Result<u64, Error> {
        let (from, to) = (self.from, self.to);
        let known = to.store.namespaces()?;
        let owned: HashSet<&str> =
            known.iter().filter(|known| known.root.is_some()).map(|known| known.name.as_str()).collect();
        let named: HashMap<String, PathBuf> = match &from.base {
            Some(base) => stored_roots(from.store.property(SOURCES_PROPERTY)?.as_deref(), base).collect(),
            None => HashMap::new(),
        };
        let here = (from.base.is_some() && !self.is_named).then(machine_name);
        let tree = |namespace: &Namespace| {
            let name = namespace.name.as_str();
            let recorded = namespace.root.as_deref().and_then(|root| from.whole(Path::new(root)));
            // A namespace that was only imported into belongs to the directory of its index.
            let imported = || from.base.clone().filter(|_| owned.contains(name));
            let root = recorded.or_else(|| named.get(name).cloned()).or_else(imported)?;
            let machine = namespace.machine.clone().or_else(|| here.clone());
            Some(Tree { namespace: name.to_owned(), root: to.own(&root), machine })
        };
        let trees: Vec<Tree> = namespaces.iter().filter_map(tree).collect();
        match to.store.claim_trees(&trees, false) {
            Err(StoreError::OtherTree { path, mut tree, mut known }) => {
                for tree in [&mut tree, &mut known] {
                    if let Some(whole) = to.whole(Path::new(&tree.root)) {
                        tree.root = whole.to_string_lossy().into_owned();
                    }
                }
                Err(self.refused(&path, &tree, &known))
            }
            claimed => {
                claimed?;
                Ok(trees.iter().filter(|tree| !owned.contains(tree.namespace.as_str())).count() as u64)
            }
        }
    }

    fn refused(&self, path: &Path, tree: &Tree, known: &Tree) -> Error {
        let name = &tree.namespace;
        let way_out = match &self.to.base {
            Some(_) => {
                "copy it to another directory, or run `tamis --index DIR index --moved` in its tree if that moved"
            }
            None => {
                "index this tree there under another name (`TAMIS_STORE_NAMESPACE=NAME tamis --store URL index`), or run \
                 `tamis --store URL index --moved` in it if it moved"
            }
        };
        Error::path(path, format!("{name} holds the files of {known}, not of {tree}; nothing was copied; {way_out}"))
    }
}
