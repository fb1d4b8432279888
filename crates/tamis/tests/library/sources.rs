//! One index of many repositories: named by the user or by the configuration, distinguished, removed, missing.

use crate::support::{assert_says, refresh, search};
use std::fs;
use std::path::PathBuf;
use tamis::config::{Config, Origins, trust};
use tamis::{Answer, Index, Location, SearchRequest, SourceSettings, SourceState};

const PLAIN: SourceSettings = SourceSettings { owner: None, shared: None, collection: None };

fn team(shared: Option<bool>) -> SourceSettings {
    SourceSettings { owner: Some("team".into()), shared, collection: None }
}

/// Three repositories side by side, each with a note of its own on the oven and on another subject, and a file of one path.
struct Repositories {
    directory: tempfile::TempDir,
}

impl Repositories {
    fn new() -> Self {
        let workshop = Repositories { directory: tempfile::tempdir().expect("a temporary directory") };
        let notes = crate::support::notes();
        for (repository, chunk) in ["service-api", "service-web", "library"].iter().zip(notes.chunks(4)) {
            for (path, text) in chunk {
                workshop.write(&format!("{repository}/{path}"), text);
            }
            workshop
                .write(&format!("{repository}/README.md"), &format!("# {repository}\n\nThe readme of {repository}.\n"));
        }
        workshop
    }

    fn base(&self) -> PathBuf {
        dunce::canonicalize(self.directory.path()).expect("a path")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// The index in `index/.tamis`, opened from a directory.
    fn open_from(&self, start: &str) -> Index {
        let directory = self.at("index/.tamis");
        let location = Location::at(&self.at("index"), Some(&directory));
        let location = Location { start: self.at(start), ..location };
        Index::at(location, quick(&[]).expect("valid")).expect("opened")
    }

    fn open(&self) -> Index {
        self.open_from("index")
    }

    fn with_all(&self) -> Index {
        let mut index = self.open();
        let directories = ["service-api", "service-web", "library"].map(|name| self.at(name));
        let names = index.add_sources(&directories, &PLAIN).expect("added");
        assert_eq!(names, ["service-api", "service-web", "library"]);
        refresh(&index);
        index
    }

    /// Opens the index of the project in `project` with this configuration, for a user who trusts it or does not.
    fn project(&self, text: &str, trusted: bool) -> Result<Index, String> {
        self.write("project/.tamis/config.toml", text);
        let file = self.at("project/.tamis/config.toml");
        let user = self.at("user");
        if trusted {
            trust::trust(&user, &file).expect("trusted");
        }
        let flags = vec![("index.models".into(), "static".into(), "test".into())];
        let origins = Origins { project: Some(file), flags, ..Origins::default() };
        let config = Config::load(&origins, Some(user)).map_err(|error| error.to_string())?;
        Index::at(Location::at(&self.at("project"), None), config).map_err(|error| error.to_string())
    }
}

fn quick(settings: &[(&str, &str)]) -> Result<Config, tamis::config::ConfigError> {
    let quick = [("index.models", "static")];
    let flags = quick.iter().chain(settings).map(|&(key, value)| (key.into(), value.into(), "test".into()));
    Config::load(&Origins { flags: flags.collect(), ..Origins::default() }, None)
}

fn names(index: &Index) -> Vec<&str> {
    index.sources().into_iter().map(|source| source.namespace.as_str()).collect()
}

fn places(answer: &Answer) -> Vec<String> {
    answer.results.iter().map(|hit| format!("{}:{}", hit.namespace, hit.path)).collect()
}

fn ask(index: &Index, query: &str) -> Vec<String> {
    places(&search(index, SearchRequest::new(query)))
}

#[test]
fn a_search_reads_what_its_owner_shares() {
    let workshop = Repositories::new();
    let mut index = workshop.open();
    index.add_sources(&[workshop.at("service-api")], &team(None)).expect("added");
    index.add_sources(&[workshop.at("library")], &team(Some(true))).expect("added");
    index.add_sources(&[workshop.at("service-web")], &PLAIN).expect("added");
    refresh(&index);
    let from = |start: &str| ask(&workshop.open_from(start), "when is the tax return due");
    assert_eq!(from("service-api")[0], "library:tax.md");
    assert!(from("service-web").iter().all(|place| place.starts_with("service-web:")));
    // The settings of a directory can be changed.
    index.add_sources(&[workshop.at("library")], &SourceSettings { shared: Some(false), ..PLAIN }).expect("changed");
    assert!(from("service-api").iter().all(|place| place.starts_with("service-api:")));
}

#[test]
fn every_source_is_brought_up_to_date_reported_and_removed() {
    let workshop = Repositories::new();
    let index = workshop.with_all();
    workshop.write("library/kite.md", "# On the kite\n\nA kite needs wind and a long string.\n");
    fs::remove_file(workshop.at("service-api/oven.md")).expect("removed");
    let mut index = Index::at(index.location().clone(), index.config().clone()).expect("opened");
    assert_eq!(index.stale().expect("counted"), 2);
    let report = refresh(&index);
    assert_eq!((report.added, report.removed, report.unchanged), (1, 1, 14));
    let by_source: Vec<(&str, u64, u64)> =
        report.sources.iter().map(|one| (one.namespace.as_str(), one.added, one.removed)).collect();
    assert_eq!(by_source, [("service-api", 0, 1), ("service-web", 0, 0), ("library", 1, 0)]);
    let status = index.status().expect("a status");
    let counts: Vec<(&str, u64)> =
        status.sources.iter().map(|source| (source.namespace.as_str(), source.documents)).collect();
    assert_eq!(counts, [("service-api", 4), ("service-web", 5), ("library", 6)]);
    assert_eq!(index.remove_source("library").expect("removed"), 6);
    assert_eq!(refresh(&workshop.open()).added, 0, "and it does not come back");
    assert!(index.check().expect("checked").problems.is_empty());
}

#[test]
fn directories_are_numbered_known_again_and_never_nested() {
    let workshop = Repositories::new();
    workshop.write("fork/library/other.md", "# Other\n\nAnother library.\n");
    let mut index = workshop.open();
    let directories = [workshop.at("library"), workshop.at("fork/library"), workshop.at("fork/../library")];
    assert_eq!(index.add_sources(&directories, &PLAIN).expect("added"), ["library", "library-2", "library"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(workshop.at("library"), workshop.at("link")).expect("linked");
        assert_eq!(index.add_sources(&[workshop.at("link")], &PLAIN).expect("known"), ["library"]);
    }
    assert_eq!(names(&index), ["library", "library-2"]);

    let workshop = Repositories::new();
    workshop.write("library/nested/a.md", "# Nested\n");
    let mut index = workshop.open();
    index.add_sources(&[workshop.at("library")], &PLAIN).expect("added");
    for directory in ["library/nested", ""] {
        assert_says(
            index.add_sources(&[workshop.at(directory)], &PLAIN).expect_err("nested"),
            &["which is indexed as", "--remove"],
        );
    }
    assert_eq!(names(&index), ["library"], "nothing was changed");
    assert_says(index.add_sources(&[workshop.at("none")], &PLAIN).expect_err("missing"), &["none"]);
}

#[test]
fn an_index_of_one_tree_becomes_one_of_several_and_again_of_one() {
    let workshop = Repositories::new();
    workshop.write("index/anchor.md", "# Anchor\n\nAn anchor holds a ship in the tide.\n");
    let mut index = workshop.open();
    assert!(index.is_of_one_tree());
    refresh(&index);
    index.add_sources(&[workshop.at("index")], &PLAIN).expect("that is what it holds");
    assert!(index.is_of_one_tree());
    index.add_sources(&[workshop.at("library")], &PLAIN).expect("added");
    assert_eq!(names(&index), ["index", "library"]);
    let report = refresh(&index);
    assert_eq!((report.added, report.unchanged), (5, 1), "its own tree is not read again");
    assert_eq!(index.remove_source("library").expect("removed"), 5);
    assert_eq!(index.remove_source("index").expect("removed"), 1);
    assert!(index.is_of_one_tree(), "as one that nobody named directories for");
    assert_eq!(refresh(&index).added, 1);
}

#[test]
fn a_directory_that_is_gone_keeps_its_documents_and_is_reported() {
    let workshop = Repositories::new();
    let mut index = workshop.with_all();
    fs::rename(workshop.at("library"), workshop.at("books")).expect("renamed");
    let report = refresh(&index);
    assert_eq!((report.removed, report.unchanged), (0, 10));
    assert_eq!(index.status().expect("a status").sources[2].state, SourceState::Gone);
    let nothing =
        index.search(SearchRequest::new("who won the football world cup").namespaces(["library"])).expect("searched");
    assert!(nothing.results.is_empty() && nothing.warnings.concat().contains("library is gone"), "{nothing:?}");
    // A directory with other files is a repository of its own, and the one with these is the source, moved.
    fs::create_dir(workshop.at("else")).expect("made");
    fs::write(workshop.at("else/one.md"), "# Another\n\nNothing of the library.\n").expect("written");
    let added = index.add_sources(&["else", "books"].map(|name| workshop.at(name)), &PLAIN).expect("added");
    assert_eq!(added, ["else", "library"]);
    let report = refresh(&index);
    assert_eq!((report.added, report.removed), (1, 0));
    let answer = index.search(SearchRequest::new("when is the tax return due")).expect("searched");
    assert_eq!((answer.results[0].namespace.as_str(), answer.warnings.as_slice()), ("library", &[][..]));
    // Taken out and added again, it is named after its new place.
    index.remove_source("library").expect("removed");
    index.add_sources(&[workshop.at("books")], &PLAIN).expect("added");
    let report = refresh(&index);
    assert_eq!(report.added, 5);
    assert!(report.embedded.is_empty(), "texts that are known are not embedded again: {:?}", report.embedded);
    assert_eq!(ask(&index, "when is the tax return due")[0], "books:tax.md");
}

#[test]
fn repositories_under_the_place_of_their_index_can_be_moved_with_it() {
    let workshop = Repositories::new();
    fs::create_dir(workshop.at("all")).expect("made");
    for name in ["library", "service-api"] {
        fs::rename(workshop.at(name), workshop.at("all").join(name)).expect("moved");
    }
    let open =
        |place: &str| Index::at(Location::at(&workshop.at(place), None), quick(&[]).expect("valid")).expect("opened");
    let mut index = open("all");
    index.add_sources(&[workshop.at("all/library"), workshop.at("all/service-api")], &PLAIN).expect("added");
    refresh(&index);
    drop(index);
    fs::rename(workshop.at("all"), workshop.at("everything")).expect("moved");
    let index = open("everything");
    let report = refresh(&index);
    assert_eq!((report.unchanged, report.added, report.removed), (10, 0, 0), "{report:?}");
}

#[test]
fn the_configuration_names_directories_in_one_place_each() {
    let workshop = Repositories::new();
    workshop.write("project/main.md", "# Project\n\nThe project itself.\n");
    let text = "[[collection]]\npath = '../service-*'\nowner = 'team'\nshared = true\n\n\
                [[collection]]\npath = '../library'\nnamespace = 'books'\ninclude = ['tax.md', 'g*']\nignore = ['glass.md']\n";
    let index = workshop.project(text, true).expect("opened");
    assert_eq!(names(&index), ["project", "service-api", "service-web", "books"]);
    assert_eq!(index.own_namespace(), Some("project"));
    let report = refresh(&index);
    assert_eq!(report.sources.iter().map(|source| source.added).collect::<Vec<_>>(), [1, 5, 5, 1]);
    let known = index.contents().namespaces().expect("known");
    let shared: Vec<(&str, Option<&str>, bool)> =
        known.iter().map(|one| (one.name.as_str(), one.owner.as_deref(), one.shared)).collect();
    let team = Some("team");
    let expected =
        [("books", None, false), ("project", None, false), ("service-api", team, true), ("service-web", team, true)];
    assert_eq!(shared, expected);

    // A directory that the glob newly names is added; one that it no longer names stays, but is not read.
    workshop.write("service-new/a.md", "# New\n\nA new service.\n");
    let index = workshop
        .project("[[collection]]\npath = '../service-*'\nowner = 'team'\nshared = true\n", true)
        .expect("opened");
    workshop.write("library/tax.md", "# Changed\n\nChanged since.\n");
    let report = refresh(&index);
    assert_eq!((report.added, report.changed, report.removed), (1, 0, 0));
    let remarks: Vec<(&str, Option<&str>)> =
        report.sources.iter().map(|one| (one.namespace.as_str(), one.remark.as_deref())).collect();
    let unnamed = "not in the configuration any more; its documents stay until `tamis index --remove books`";
    assert!(remarks.contains(&("service-new", None)) && remarks.contains(&("books", Some(unnamed))), "{remarks:?}");

    let mut index = workshop.project("[[collection]]\npath = '../service-*'\n", true).expect("opened");
    assert_says(index.remove_source("service-new").expect_err("named"), &["config.toml"]);
    assert_eq!(index.remove_source("books").expect("not named"), 1);

    let workshop = Repositories::new();
    workshop.write("project/one/a.md", "# One\n\nThe first part.\n");
    workshop.write("project/two/b.md", "# Two\n\nThe second part.\n");
    workshop.write("project/c.md", "# Three\n\nIn no part.\n");
    let index = workshop.project("[[collection]]\npath = '*'\n", false).expect("inside the project: needs no trust");
    assert_eq!(names(&index), ["one", "two"]);
    assert_eq!(refresh(&index).added, 2);

    let workshop = Repositories::new();
    workshop.write("user/config.toml", "[[collection]]\npath = 'x'\n");
    let origins = Origins { user: Some(workshop.at("user/config.toml")), ..Origins::default() };
    assert_says(Config::load(&origins, None).expect_err("not there"), &["collection", ".tamis/config.toml"]);

    let workshop = Repositories::new();
    let mut index =
        workshop.project("[[collection]]\npath = '../library'\nnamespace = 'books'\n", true).expect("opened");
    index.add_sources(&[workshop.at("service-api")], &PLAIN).expect("added");
    drop(index);
    let text = "[[collection]]\npath = '../library'\nnamespace = 'service-api'\n";
    let error = workshop.project(text, true).err().expect("taken");
    assert!(error.contains("service-api") && error.contains("namespace"), "{error}");
}
