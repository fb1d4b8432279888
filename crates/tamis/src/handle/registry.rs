//! The repositories of an index.
//!
//! An index of one tree has a single source, the tree around it. It stores only the tree's name, so the tree can be moved with
//! its index. Once `tamis index DIRECTORY…` or a `[[collection]]` in the configuration names directories, the index stores the
//! list of its sources itself ([`Registry`]).

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::config::{CollectionDirectory, Config, FileCollection};
use crate::index_location::Location;

/// A repository of an index: a directory whose files are the documents of one namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The name under which its documents are stored.
    pub namespace: String,
    /// The directory, absolute.
    pub root: PathBuf,
    /// Its owner. Namespaces of one owner may share their contents.
    pub owner: Option<String>,
    /// True if its owner's other namespaces may search it.
    pub shared: bool,
    /// Globs, as in `.gitignore`, of which a file must match one; empty: every file.
    pub include: Vec<String>,
    /// Globs left out, as in `.gitignore`, besides those of `index.ignore`.
    pub ignore: Vec<String>,
    /// The collection of its prose; `None`: as `index.notes`, `index.wiki` and its name decide.
    pub collection: Option<FileCollection>,
}

/// The user's settings for added directories. `None` keeps the present setting, which a new directory does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceSettings {
    /// The owner.
    pub owner: Option<String>,
    /// True if the owner's other namespaces may search them.
    pub shared: Option<bool>,
    /// The collection of their prose.
    pub collection: Option<FileCollection>,
}

/// The state of a source, which decides if it can be brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// Its directory exists.
    Here,
    /// Its directory is gone; its documents stay as they are.
    Gone,
    /// The configuration no longer names it; its documents stay as they are.
    Unnamed,
}

impl SourceState {
    /// Returns a remark for people on the state and the way out, if there is anything to say.
    pub fn remark(self, namespace: &str) -> Option<String> {
        match self {
            SourceState::Here => None,
            SourceState::Gone => Some(format!(
                "gone; name its new place (`tamis index DIRECTORY`, or the configuration), or remove its documents \
                 (`tamis index --remove {namespace}`)"
            )),
            SourceState::Unnamed => Some(format!(
                "not in the configuration any more; its documents stay until `tamis index --remove {namespace}`"
            )),
        }
    }
}

/// One entry of the stored list of sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    namespace: String,
    /// Relative to the directory that holds the index if the source lies in it, so that both can be moved; absolute otherwise.
    root: PathBuf,
    #[serde(default)]
    owner: Option<String>,
    #[serde(default)]
    shared: bool,
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    collection: Option<FileCollection>,
    /// The configuration file that names it, in the same form as `root`; `None` if a user added it.
    #[serde(default)]
    named_by: Option<PathBuf>,
    /// True if that file no longer names it.
    #[serde(default)]
    unnamed: bool,
}

/// The sources of an index: the stored list, updated by the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registry {
    sources: Vec<Registered>,
    /// True for the single tree around the index, which needs no stored list.
    single: bool,
    /// The namespace of the index's own tree and the tree around the user, if these are two trees.
    elsewhere: Option<(String, PathBuf)>,
}

/// A source and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Registered {
    source: Source,
    named_by: Option<PathBuf>,
    unnamed: bool,
}

/// The property that stores the list.
pub(crate) const SOURCES_PROPERTY: &str = "sources";

impl Registry {
    /// Reads the sources from the stored list (`None`: there is none), the namespace of the index's own tree with its directory,
    /// and the configuration.
    ///
    /// # Errors
    /// The list cannot be read, two namespaces have one name, or a directory lies inside another one.
    pub fn parse(
        kept: Option<&str>,
        namespace: &str,
        root: &Path,
        location: &Location,
        config: &Config,
    ) -> Result<Self, Error> {
        let base = location.base();
        let entries: Vec<Entry> = match kept.filter(|text| !text.is_empty()) {
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Error::path(&location.directory, format!("its list of sources is damaged: {error}"))
            })?,
            None => Vec::new(),
        };
        let own = || Registered {
            source: Source { namespace: namespace.to_owned(), root: root.to_owned(), ..Source::default() },
            named_by: None,
            unnamed: false,
        };
        let elsewhere = || (root != location.root).then(|| (namespace.to_owned(), location.root.clone()));
        let collections = &config.collections;
        if entries.is_empty() && collections.is_empty() {
            return Ok(Registry { sources: vec![own()], single: true, elsewhere: elsewhere() });
        }
        let mut sources: Vec<Registered> = entries.into_iter().map(|entry| entry.registered(&base)).collect();
        let mut registry = Registry::default();
        // The tree around the index is a source unless it only holds the others.
        if sources.is_empty() && !collections.iter().any(|collection| collection.root.starts_with(&location.root)) {
            sources.push(own());
            registry.elsewhere = elsewhere();
        }
        registry.sources = sources;
        registry.name(collections, &location.config_file());
        registry.check()?;
        Ok(registry)
    }

    /// Takes over the directories that a configuration file names.
    fn name(&mut self, collections: &[CollectionDirectory], file: &Path) {
        let (earlier, sources): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.sources).into_iter().partition(|known| known.named_by.as_deref() == Some(file));
        let before: HashMap<&Path, &str> =
            earlier.iter().map(|known| (known.source.root.as_path(), known.source.namespace.as_str())).collect();
        // Names in use stay with their directories before new names are given.
        let name = |collection: &CollectionDirectory| {
            collection.namespace.clone().or_else(|| before.get(collection.root.as_path()).map(|&name| name.to_owned()))
        };
        let mut taken = Taken::default();
        sources.iter().for_each(|known| taken.take(&known.source.namespace));
        collections.iter().filter_map(name).for_each(|name| taken.take(&name));
        let mut named = Vec::with_capacity(collections.len());
        for collection in collections {
            let source = Source {
                namespace: name(collection).unwrap_or_else(|| taken.free(&collection.root)),
                root: collection.root.clone(),
                owner: collection.owner.clone(),
                shared: collection.shared,
                include: collection.include.clone(),
                ignore: collection.ignore.clone(),
                collection: collection.collection,
            };
            named.push(Registered { source, named_by: Some(file.to_owned()), unnamed: false });
        }
        // They replace the same directories added by a user before.
        let key = |known: &Registered| (known.source.root.clone(), known.source.namespace.clone());
        let replaced: HashSet<(PathBuf, String)> = named.iter().map(key).collect();
        self.sources = sources.into_iter().filter(|known| !replaced.contains(&key(known))).chain(named).collect();
        let present: HashSet<String> = self.sources.iter().map(|known| known.source.namespace.clone()).collect();
        let gone = earlier.into_iter().filter(|known| !present.contains(&known.source.namespace));
        self.sources.extend(gone.map(|known| Registered { unnamed: true, ..known }));
    }

    /// Adds directories that a user names, or changes the settings of known ones. Returns their namespaces.
    ///
    /// # Errors
    /// A directory lies inside another source, or contains one.
    pub fn add(&mut self, roots: &[PathBuf], settings: &SourceSettings) -> Result<Vec<String>, Error> {
        self.single = false;
        let SourceSettings { owner, shared, collection } = settings;
        let mut places: HashMap<PathBuf, usize> = HashMap::new();
        let mut taken = Taken::default();
        for (place, known) in self.sources.iter().enumerate() {
            taken.take(&known.source.namespace);
            places.entry(known.source.root.clone()).or_insert(place);
        }
        let mut namespaces = Vec::with_capacity(roots.len());
        for root in roots {
            let place = *places.entry(root.clone()).or_insert_with(|| {
                let source = Source { namespace: taken.free(root), root: root.clone(), ..Source::default() };
                self.sources.push(Registered { source, named_by: None, unnamed: false });
                self.sources.len() - 1
            });
            let known = &mut self.sources[place];
            known.unnamed = false;
            if owner.is_some() {
                known.source.owner.clone_from(owner);
            }
            known.source.shared = shared.unwrap_or(known.source.shared);
            known.source.collection = collection.or(known.source.collection);
            namespaces.push(known.source.namespace.clone());
        }
        self.check()?;
        Ok(namespaces)
    }

    /// Gives a source that has moved its new directory.
    pub fn move_to(&mut self, namespace: &str, root: &Path) {
        if let Some(known) = self.sources.iter_mut().find(|known| known.source.namespace == namespace) {
            known.source.root = root.to_owned();
        }
    }

    /// Starts a list without the tree around the index, which then only holds the named sources.
    pub fn clear(&mut self) {
        self.sources.clear();
    }

    /// Removes a source, if there is one of that name.
    ///
    /// # Errors
    /// The configuration names it.
    pub fn remove(&mut self, namespace: &str) -> Result<(), Error> {
        let known = self.sources.iter().find(|known| known.source.namespace == namespace);
        if let Some(Registered { named_by: Some(file), unnamed: false, .. }) = known {
            let allowed = format!("removed from {} first, or it will come back", file.display());
            return Err(Error::argument("remove", format!("{namespace:?}"), allowed));
        }
        self.sources.retain(|known| known.source.namespace != namespace);
        Ok(())
    }

    /// Checks that each source has its own name and that no file is in two sources.
    fn check(&self) -> Result<(), Error> {
        let mut by_name: HashMap<&str, &Source> = HashMap::new();
        for source in self.sources() {
            if let Some(one) = by_name.insert(&source.namespace, source) {
                let reason = format!(
                    "would get the namespace {}, which {} already has; give one of them another `namespace`",
                    source.namespace,
                    one.root.display()
                );
                return Err(Error::path(&source.root, reason));
            }
        }
        // In the order of paths, a directory is followed by all that lies in it.
        let mut by_root: Vec<&Source> = self.sources().collect();
        by_root.sort_by(|one, other| one.root.cmp(&other.root));
        match by_root.windows(2).find(|pair| pair[1].root.starts_with(&pair[0].root)) {
            None => Ok(()),
            Some(pair) => {
                let (outer, inner) = (pair[0], pair[1]);
                let reason = format!(
                    "lies in {}, which is indexed as {}; a file belongs to one namespace: name only one of the two, \
                     or take the other out with `tamis index --remove {}`",
                    outer.root.display(),
                    outer.namespace,
                    outer.namespace
                );
                Err(Error::path(&inner.root, reason))
            }
        }
    }

    /// Returns the list for storing; empty if the index stores none.
    pub fn to_stored(&self, location: &Location) -> String {
        if self.single || self.sources.is_empty() {
            return String::new();
        }
        let base = location.base();
        let entries: Vec<Entry> = self.sources.iter().map(|known| Entry::new(known, &base)).collect();
        serde_json::to_string(&entries).unwrap_or_default()
    }

    /// Returns `true` if the only source is the tree around the index.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// Returns the directory for which a run would write the files of a source: its root, but the tree around the user where the
    /// index has another tree of its own.
    pub fn writes<'a>(&'a self, source: &'a Source) -> &'a Path {
        let around = self.elsewhere.as_ref().filter(|(namespace, _)| *namespace == source.namespace);
        around.map_or(&source.root, |(_, root)| root)
    }

    /// Returns all sources, in the order in which they were named.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().map(|known| &known.source)
    }

    /// Returns the sources that a user added, not a configuration file.
    pub fn added(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|known| known.named_by.is_none()).map(|known| &known.source)
    }

    /// Returns all sources with their states.
    pub fn states(&self) -> impl Iterator<Item = (&Source, SourceState)> {
        self.sources.iter().map(|known| {
            let state = match known.source.root.is_dir() {
                false => SourceState::Gone,
                true if known.unnamed => SourceState::Unnamed,
                true => SourceState::Here,
            };
            (&known.source, state)
        })
    }

    /// Returns the source that contains a directory.
    pub fn holding(&self, directory: &Path) -> Option<&Source> {
        self.sources().find(|source| directory.starts_with(&source.root))
    }
}

impl Entry {
    fn new(known: &Registered, base: &Path) -> Entry {
        let Source { namespace, root, owner, shared, include, ignore, collection } = known.source.clone();
        let named_by = known.named_by.as_deref().map(|file| movable(file, base));
        Entry {
            namespace,
            root: movable(&root, base),
            owner,
            shared,
            include,
            ignore,
            collection,
            named_by,
            unnamed: known.unnamed,
        }
    }

    fn registered(self, base: &Path) -> Registered {
        let Entry { namespace, root, owner, shared, include, ignore, collection, named_by, unnamed } = self;
        let root = plain(&base.join(root));
        let named_by = named_by.map(|file| base.join(file));
        let source = Source { namespace, root, owner, shared, include, ignore, collection };
        Registered { source, named_by, unnamed }
    }
}

/// The namespaces of a stored list, each with its directory. A damaged list names none.
pub(crate) fn stored_roots(kept: Option<&str>, base: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries: Vec<Entry> = kept.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    entries.into_iter().map(move |entry| entry.registered(base).source).map(|source| (source.namespace, source.root))
}

fn movable(path: &Path, base: &Path) -> PathBuf {
    path.strip_prefix(base).unwrap_or(path).to_owned()
}

/// Returns a path without `.`, and without a separator at its end, which joining with an empty path leaves.
pub(crate) fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

/// The names of namespaces that are in use.
#[derive(Default)]
struct Taken {
    names: HashSet<String>,
    /// The number to try next for a name.
    next: HashMap<String, u64>,
}

impl Taken {
    fn take(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    /// Takes the name of a directory, with a number if that name is in use.
    fn free(&mut self, root: &Path) -> String {
        let name = root.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned());
        let mut free = name.clone();
        let next = self.next.entry(name.clone()).or_insert(2);
        while !self.names.insert(free.clone()) {
            free = format!("{name}-{next}");
            *next += 1;
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn named(root: &str) -> CollectionDirectory {
        CollectionDirectory { root: root.into(), ..CollectionDirectory::default() }
    }

    fn read(collections: Vec<CollectionDirectory>) -> Result<Registry, String> {
        let mut config = Config::built_in();
        config.collections = collections;
        let location = Location::at(Path::new("/w"), Some(Path::new("/index")));
        Registry::parse(None, "w", &location.root, &location, &config).map_err(|error| error.to_string())
    }

    #[test]
    fn many_sources_are_compared_in_time_that_grows_with_their_number() {
        let collections = |count: u32| (0..count).map(|at| named(&format!("/w/group-{}/repository", at))).collect();
        let started = Instant::now();
        let mut registry = read(collections(20_000)).expect("read");
        let more: Vec<PathBuf> = (0..20_000).map(|at| format!("/v/group-{at}/repository").into()).collect();
        let names = registry.add(&more, &SourceSettings::default()).expect("added");
        assert_eq!(names[19_999], "repository-40000");
        // Comparing all pairs takes minutes.
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }

    #[test]
    fn a_directory_in_another_one_is_found_among_names_that_begin_alike() {
        let roots = ["/w/a-b", "/w/a", "/w/b", "/w/a/c/d", "/w/ab"].map(named).to_vec();
        let error = read(roots).expect_err("one in another");
        assert!(error.contains("/w/a/c/d") && error.contains("lies in /w/a,"), "{error}");
        assert!(read(["/w/a-b", "/w/a", "/w/ab", "/w/b"].map(named).to_vec()).is_ok());
    }
}
