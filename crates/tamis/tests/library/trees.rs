//! A namespace of a store that several trees share belongs to one of them.
#![cfg_attr(not(feature = "postgres"), allow(dead_code, unused_imports))]

use crate::support::{assert_says, open, paths, refresh, search};
use std::fs;
use std::path::{Path, PathBuf};
use tamis::config::{Config, Origins, trust};
use tamis::copy::{CopyOptions, Place, copy_between};
use tamis::{Error, SearchRequest};
use tamis_store::{Change, NewDocument, StoreError};

/// Directories of one name, each with a note of its own.
struct Trees {
    directory: tempfile::TempDir,
}

impl Trees {
    fn new() -> Self {
        let trees = Trees { directory: tempfile::tempdir().expect("a temporary directory") };
        for (tree, text) in [("one", "Heat the oven before baking bread."), ("two", "Ships wait for the tide.")] {
            fs::create_dir_all(trees.root(tree).join(".git")).expect("made");
            fs::write(trees.root(tree).join(format!("{tree}.md")), format!("# {tree}\n\n{text}\n")).expect("written");
        }
        trees
    }

    fn base(&self) -> PathBuf {
        dunce::canonicalize(self.directory.path()).expect("a path")
    }

    fn root(&self, tree: &str) -> PathBuf {
        self.base().join(tree).join("api")
    }

    /// Both trees in one store, and the first one at another place, of which the store must be told.
    #[cfg(feature = "postgres")]
    fn share(&self, url: &str) {
        let open = |root: &Path| open(root, &[("store.url", url)]);
        let [one, two] = [self.root("one"), self.root("two")];
        assert_eq!(refresh(&open(&one)).counts.added, 1);
        let other = open(&two);
        let refused = other.refresh().expect_err("another tree");
        assert!(matches!(refused, Error::Store(StoreError::OtherTree { .. })), "{refused}");
        for named in [&one, &two] {
            assert!(refused.to_string().contains(&*named.to_string_lossy()), "{refused}");
        }
        assert!(refused.to_string().contains("--moved"), "{refused}");
        let freshness = other.refresh_for_search(&[], &()).expect("searched as it is");
        let reason = freshness.reason.expect("a reason");
        assert!(freshness.failed && reason.contains(&*one.to_string_lossy()), "{reason}");
        assert!(reason.len() < one.as_os_str().len() + 80, "{reason}");
        let asked = || search(&other, SearchRequest::new("oven tide").no_gate());
        assert_eq!(paths(&asked()), ["one.md"], "nothing was replaced");
        assert_eq!((other.root(), other.own_namespace()), (one.as_path(), None), "it is that tree's");
        assert_eq!(refresh(&open(&one)).counts.unchanged, 1);

        let moved = self.root("three");
        fs::create_dir_all(moved.parent().expect("a parent")).expect("made");
        fs::rename(&one, &moved).expect("moved");
        let mut there = open(&moved);
        assert!(there.refresh().is_err(), "nobody has said that it moved");
        there.take_over_namespaces().expect("taken over");
        assert_eq!(refresh(&there).counts.unchanged, 1);
    }
}

/// Copies the first tree to a place, and then tries to copy the second one there.
fn copy_both(trees: &Trees, place: &Path) {
    let [one, two] = [trees.root("one"), trees.root("two")];
    for root in [&one, &two] {
        refresh(&open(root, &[]));
    }
    let copied = |root: &Path, delete| {
        let options = CopyOptions { delete, ..CopyOptions::default() };
        copy_between(&Place::parse(root), &Place::parse(place), &options, &())
    };
    let back = trees.base().join("back");
    for delete in [false, true] {
        assert!(copied(&one, delete).expect("copied").is_equal());
        let refused = copied(&two, delete).expect_err("another tree").to_string();
        for named in [&*one.to_string_lossy(), &two.to_string_lossy(), "nothing was copied", "--moved"] {
            assert!(refused.contains(named), "{named}: {refused}");
        }
        // Nothing of the second tree is there, all of the first one is, and it can be copied back to its own index.
        for home in [&back, &one] {
            let options = CopyOptions { delete, ..CopyOptions::default() };
            let report = copy_between(&Place::parse(place), &Place::parse(home), &options, &()).expect("copied");
            assert!(report.is_equal() && report.namespaces[0].documents.to == 1, "{report:#?}");
        }
    }
    assert_eq!(refresh(&open(&one, &[])).counts.unchanged, 1);
    let refused = copy_between(&Place::parse(&back), &Place::parse(&two), &CopyOptions::default(), &());
    assert_says(refused.expect_err("another tree"), &["nothing was copied"]);
}

#[test]
fn a_copy_of_a_tree_does_not_replace_the_files_of_another_one() {
    let trees = Trees::new();
    copy_both(&trees, &trees.base().join("backup"));
}

#[test]
fn a_copy_of_what_was_only_imported_does_not_replace_the_files_of_another_tree() {
    let trees = Trees::new();
    let [one, two, backup] = [trees.root("one"), trees.root("two"), trees.base().join("backup")];
    refresh(&open(&one, &[]));
    // The index of the second tree has its name, and none of its files yet.
    let unread = open(&two, &[]);
    let imported = NewDocument::new("api", "docs", "imported.md");
    let store = tamis_store::EmbeddedStore::open(two.join(".tamis"), tamis_store::Access::ReadWrite).expect("opened");
    tamis_store::Changes::apply(&store, &[Change::Put(imported)]).expect("put");
    drop((store, unread));
    let copied = |from: &Path| {
        let options = CopyOptions { delete: true, ..CopyOptions::default() };
        copy_between(&Place::parse(from), &Place::parse(&backup), &options, &())
    };
    copied(&one).expect("copied");
    assert_says(copied(&two).expect_err("another tree"), &["nothing was copied"]);
}

#[cfg(feature = "postgres")]
#[test]
fn a_copy_of_a_tree_does_not_replace_the_files_of_another_one_in_a_database() {
    let Some(database) = crate::postgres::TestDatabase::create() else { return };
    let (trees, url) = (Trees::new(), database.url());
    copy_both(&trees, Path::new(&url));
    let indexed = open(&trees.root("one"), &[("store.url", &url)]);
    assert_eq!(refresh(&indexed).counts.unchanged, 1, "the copy is of the tree that it was copied from");
    let other = open(&trees.root("two"), &[("store.url", &url)]);
    assert!(other.refresh().is_err(), "also to whoever indexes");
}

#[cfg(feature = "postgres")]
#[test]
fn a_tree_does_not_replace_the_files_of_another_one_in_the_same_database() {
    let Some(database) = crate::postgres::TestDatabase::create() else { return };
    let (trees, url) = (Trees::new(), database.url());
    trees.share(&url);
    trees.share_further(&url);
}

#[cfg(feature = "postgres")]
impl Trees {
    /// The namespace of a directory that is added, and of a tree on another machine.
    fn share_further(&self, url: &str) {
        let workshop = self.base().join("workshop");
        fs::create_dir(&workshop).expect("made");
        let mut index = open(&workshop, &[("store.url", url)]);
        let refused = index.add_sources(&[self.root("two")], &tamis::SourceSettings::default());
        assert!(matches!(refused, Err(Error::Store(StoreError::OtherTree { .. }))), "{refused:?}");
        let store = tamis_store::PostgresStore::open(url, "api").expect("opened");
        let root = self.root("three").to_string_lossy().into_owned();
        let elsewhere = tamis_store::Tree { namespace: "api".into(), root, machine: Some("elsewhere".into()) };
        tamis_store::Changes::claim_trees(&store, &[elsewhere], true).expect("moved");
        assert!(open(&self.root("three"), &[("store.url", url)]).refresh().is_err(), "another machine");
        let named = [("store.url", url), ("store.namespace", "api")];
        refresh(&open(&self.root("three"), &named));
    }
}

#[test]
fn a_projects_file_names_no_namespace_of_a_database_until_it_is_trusted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (user, project) = (directory.path().join("user"), directory.path().join("tree/.tamis/config.toml"));
    fs::create_dir_all(project.parent().expect("a parent")).expect("made");
    for (text, key) in [
        ("[store]\nnamespace = 'api'\n", "store.namespace"),
        ("[[collection]]\npath = '.'\nnamespace = 'api'\n", "collection"),
        ("[[collection]]\npath = 'api'\n", "collection"),
    ] {
        fs::write(&project, text).expect("written");
        let load = |url: &str| {
            let flags = vec![("store.url".into(), url.into(), "test".into())];
            Config::load(&Origins { project: Some(project.clone()), flags, ..Origins::default() }, Some(user.clone()))
        };
        assert!(load("").is_ok(), "a directory of its own");
        assert_says(load("postgres://db.example/tamis").expect_err(key), &[key, "tamis trust"]);
        trust::trust(&user, &project).expect("trusted");
        assert!(load("postgres://db.example/tamis").is_ok());
    }
}
