//! The index follows its tree: new, changed, moved, touched and deleted files, and files left out.

use crate::support::endpoint::Endpoint;
use crate::support::{Tree, ask, notes_tree, opened_notes, paths, refresh};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tamis::{Index, Location, Observer, RunOptions, Stage, TextDocument, config::Config, config::Origins};

#[test]
fn a_stopped_run_leaves_a_valid_index_that_the_next_one_completes() {
    struct StopAfter(AtomicU64);
    impl Observer for StopAfter {
        fn stage(&self, stage: Stage, _: u64) {
            if matches!(stage, Stage::Publish) {
                self.0.store(0, Ordering::SeqCst);
            }
        }
        fn advance(&self, steps: u64) {
            let left = self.0.load(Ordering::SeqCst);
            self.0.store(left.saturating_sub(steps), Ordering::SeqCst);
        }
        fn cancelled(&self) -> bool {
            self.0.load(Ordering::SeqCst) == 0
        }
    }
    let tree = Tree::new(&[]);
    // More files than are read ahead of the commit.
    for number in 0..1500 {
        tree.write(&format!("note-{number}.md"), format!("# Note {number}\n\nText of number {number}.\n").as_bytes());
    }
    let index = tree.open(&[]);
    let report = index.refresh_with(RunOptions::WHOLE, &StopAfter(AtomicU64::new(200))).expect("stopped");
    assert!(report.interrupted);
    assert!(report.counts.added >= 128 && report.counts.added < 1500, "{}", report.counts.added);
    // Nothing is lost, but not all of it is published.
    assert!(index.check().expect("checked").problems.iter().all(|problem| problem.mendable));
    let report = refresh(&index);
    assert!(!report.interrupted && index.check().expect("checked").problems.is_empty());
    assert_eq!(index.status().expect("a status").summary.documents, 1500);
    assert_eq!(index.status().expect("a status").files.stale, 0);
}

#[test]
fn documents_given_by_a_program_stay_when_the_tree_is_refreshed() {
    let (_tree, index) = opened_notes(&[]);
    let (title, text) = (Some("Submarine".into()), "A submarine dives by flooding its ballast tanks.".into());
    let document = TextDocument { id: "memo:1".into(), collection: "memos".into(), title, text };
    index.put_documents(std::slice::from_ref(&document)).expect("put");
    refresh(&index);
    assert_eq!(paths(&ask(&index, "how does a submarine dive")), ["memo:1"]);
    let error = index.put_documents(&[TextDocument { collection: "docs".into(), ..document }]).expect_err("refused");
    assert!(error.to_string().contains("collection"), "{error}");
}

#[test]
fn a_tree_that_is_renamed_or_gone_keeps_its_index() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let (before, after) = (home.path().join("before"), home.path().join("after"));
    fs::create_dir(&before).expect("made");
    fs::write(before.join("note.md"), "# Note\n\nThe glacier moves.\n").expect("written");
    let open = |root: &std::path::Path| {
        let mut config = Config::built_in();
        config.index.models = vec!["static".into()];
        Index::at(Location::at(root, None), config).expect("opened")
    };
    refresh(&open(&before));
    fs::rename(&before, &after).expect("renamed");
    let index = open(&after);
    assert_eq!(refresh(&index).counts.unchanged, 1);
    assert_eq!(index.namespace(), "before");

    let index_home = tempfile::tempdir().expect("a temporary directory");
    let tree = notes_tree();
    let root = tree.root().to_owned();
    let config = tree.open(&[]).config().clone();
    let index = Index::at(Location::at(&root, Some(index_home.path())), config).expect("opened");
    refresh(&index);
    drop(tree);
    assert!(index.refresh().is_err());
    assert_eq!(index.contents().summary().expect("a summary").documents, 12);
}

/// Changes the tree when it has been listed and before it is read.
#[cfg(unix)]
struct Between<F: Fn() + Sync>(F);

#[cfg(unix)]
impl<F: Fn() + Sync> Observer for Between<F> {
    fn stage(&self, stage: Stage, _: u64) {
        if stage == Stage::Read {
            (self.0)();
        }
    }
}

#[cfg(unix)]
#[test]
fn what_stops_being_a_file_of_the_tree_before_it_is_read_is_not_indexed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().expect("a temporary directory");
    let secret = "# Secret\n\nThe password of the harbour master is a barnacle.\n";
    fs::write(outside.path().join("secret.md"), secret).expect("written");
    let tree = notes_tree();
    for name in ["piped.md", "linked.md", "grown.md", "below/secret.md"] {
        tree.write(name, b"# Harbour\n\nShips lie in the harbour.\n");
    }
    let root = tree.root().to_owned();
    let index = tree.open(&[]);
    let swap = || {
        for name in ["piped.md", "linked.md", "grown.md"] {
            fs::remove_file(root.join(name)).expect("removed");
        }
        assert!(std::process::Command::new("mkfifo").arg(root.join("piped.md")).status().expect("runs").success());
        symlink(outside.path().join("secret.md"), root.join("linked.md")).expect("linked");
        fs::File::create(root.join("grown.md")).and_then(|file| file.set_len(1 << 42)).expect("made");
        fs::remove_dir_all(root.join("below")).expect("removed");
        symlink(outside.path(), root.join("below")).expect("linked");
    };
    let report = index.refresh_with(RunOptions::WHOLE, &Between(swap)).expect("run");
    let mut unreadable: Vec<&str> = report.unreadable.iter().filter_map(|line| line.split(':').next()).collect();
    unreadable.sort_unstable();
    assert_eq!(unreadable, ["below/secret.md", "grown.md", "linked.md", "piped.md"], "{:?}", report.unreadable);
    assert_eq!(report.counts.added, 12, "the others are");
    assert!(!paths(&ask(&index, "password harbour master barnacle")).iter().any(|path| path.contains("secret")));
    // The next run finds their current state, without a complaint.
    let next = refresh(&index);
    assert!(next.unreadable.is_empty(), "{:?}", next.unreadable);
    assert_eq!(next.skipped.get("symlink"), Some(&2));
}

#[test]
fn an_endpoint_that_makes_other_vectors_ends_no_run_and_no_search() {
    let tree = Tree::new(&[("oven.md", "# Oven\n\nHeat the oven to 220 degrees.\n")]);
    let dimension = Arc::new(AtomicUsize::new(6));
    let made = dimension.clone();
    let endpoint = Endpoint::start(move |request, _| {
        let texts = request.body["input"].as_array().expect("texts").len();
        let vector = vec![1.0; made.load(Ordering::SeqCst)];
        let data: Vec<_> = (0..texts).map(|at| serde_json::json!({ "index": at, "embedding": vector })).collect();
        Some((200, serde_json::json!({ "data": data }).to_string()))
    });
    let user = tree.root().join(".user/config.toml");
    fs::create_dir_all(user.parent().expect("a directory")).expect("made");
    let model = format!("provider = 'openai'\nurl = '{}'\nmodel = 'm'\nmax_retries = 0\n", endpoint.url);
    fs::write(&user, format!("[models.far]\n{model}")).expect("written");
    let open = |models: &str| {
        let set = [("index.models", models), ("search.gate", "false")];
        let flags = set.map(|(key, value)| (key.into(), value.into(), "test".into())).to_vec();
        let origins = Origins { user: Some(user.clone()), flags, ..Origins::default() };
        Index::at(Location::at(tree.root(), None), Config::load(&origins, None).expect("valid")).expect("opened")
    };
    for models in ["far", "static,far"] {
        assert!(refresh(&open(models)).embedding.unusable.is_empty());
    }
    dimension.store(4, Ordering::SeqCst);
    tree.write("tide.md", b"# Tide\n\nShips wait for the tide.\n");
    for (models, used) in [("far", None), ("static,far", Some("static-256-v2"))] {
        let index = open(models);
        let report = refresh(&index);
        let reason = report.embedding.unusable.get("far").expect("unusable").clone();
        for said in ["4 dimensions", "have 6", "`model` in [models.far]"] {
            assert!(reason.contains(said), "{reason}");
        }
        let answer = ask(&index, "when do ships leave with the tide");
        assert_eq!((answer.results[0].path.as_str(), answer.model.as_deref()), ("tide.md", used), "{models}");
        let said = answer.fallback_reason.into_iter().chain(answer.warnings).collect::<Vec<_>>().join("; ");
        assert!(said.contains("[models.far]"), "{said}");
    }
}
