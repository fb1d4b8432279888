//! Derived files may be lost, damaged, outdated or another index's at any time, without losing anything else.

use std::path::{Path, PathBuf};

use crate::common::*;

fn filled() -> (tempfile::TempDir, EmbeddedStore) {
    let (directory, store) = opened();
    let document = |file| prose(&format!("{file}.md"), &["flour and grain", &format!("sand {file}")]);
    put(&store, (0..30).map(document).collect());
    complete(&store);
    (directory, store)
}

/// The answers of both retrievers.
fn answers(store: &EmbeddedStore) -> (Vec<String>, Vec<PassageId>) {
    (found(store, "flour sand"), nearest(store))
}

fn nearest(store: &EmbeddedStore) -> Vec<PassageId> {
    let vector = [1.0, 0.5, 0.1, 0.0, 0.2, -0.3, 0.7, 0.9];
    let nearest = store.nearest(MODEL, &vector, &Filter::default(), 100).unwrap();
    nearest.hits.iter().map(|hit| hit.passage).collect()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn file_of_kind(directory: &Path, kind: &str) -> PathBuf {
    let mut found = files(directory).into_iter().filter(|file| file.extension().is_some_and(|found| found == kind));
    found.next().unwrap_or_else(|| panic!("no .{kind} file"))
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in files(from).iter().filter(|file| file.is_file()) {
        std::fs::copy(file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// Damages the index of a closed store, opens it again, and expects nothing to be lost.
fn survives(what: &str, damage: impl Fn(&Path)) {
    let (directory, store) = filled();
    let before = answers(&store);
    drop(store);
    damage(directory.path());

    let store = open(directory.path());
    let problems = store.check().unwrap().problems;
    assert!(!problems.is_empty() && problems.iter().all(|problem| problem.mendable), "{what}: {problems:?}");
    assert_eq!(store.mend(&mut |_| Ok(())).unwrap().problems, [], "{what}");
    assert_eq!(answers(&store), before, "{what}");
    drop(store);

    damage(directory.path());
    let store = open(directory.path());
    publish(&store);
    let after = answers(&store);
    assert_eq!(after.1, before.1, "{what}");
    // Publishing notices what shows without reading everything; the check finds the rest.
    assert!(after.0 == before.0 || !store.check().unwrap().problems.is_empty(), "{what}");
}

fn shorten(file: &Path, length: impl Fn(usize) -> usize) {
    let content = std::fs::read(file).unwrap();
    std::fs::write(file, &content[..length(content.len())]).unwrap();
}

#[test]
fn derived_files_may_be_lost_cut_short_or_garbage() {
    type Damage = fn(&Path);
    let cases: [(&str, Damage); 7] = [
        ("a lost lexical index", |index| std::fs::remove_dir_all(index.join("lexical")).unwrap()),
        ("a lost list of files", |index| std::fs::remove_file(index.join("lexical/meta.json")).unwrap()),
        ("a list of files of garbage", |index| {
            std::fs::write(index.join("lexical/meta.json"), b"{\"segments\": garbage").unwrap();
        }),
        ("truncated lexical files", |index| {
            let is_cut = |file: &PathBuf| file.extension().is_some_and(|kind| kind == "term" || kind == "idx");
            for file in files(&index.join("lexical")).into_iter().filter(is_cut) {
                shorten(&file, |length| length / 2);
            }
        }),
        ("lost vector files", |index| std::fs::remove_dir_all(index.join("vectors")).unwrap()),
        ("a truncated vector file", |index| shorten(&index.join("vectors/toy.tvec"), |length| length - 100)),
        ("an empty vector file", |index| std::fs::write(index.join("vectors/toy.tvec"), b"").unwrap()),
    ];
    for (what, damage) in cases {
        survives(what, damage);
    }
}

#[test]
fn indexes_of_another_database() {
    let other = temporary();
    let store = open(other.path());
    put(&store, vec![prose("strange.md", &["flour of another mill"])]);
    complete(&store);
    drop(store);
    survives("another database", |directory| {
        for part in ["lexical", "vectors"] {
            std::fs::remove_dir_all(directory.join(part)).unwrap();
            copy(&other.path().join(part), &directory.join(part));
        }
    });
}

/// Damages each file in many places, one after the other, and restores it.
fn with_each_damage(directory: &Path, mut look: impl FnMut(&Path, &str)) {
    let is_lock = |file: &PathBuf| file.extension().is_some_and(|kind| kind == "lock");
    for part in ["lexical", "vectors"] {
        for file in files(&directory.join(part)).iter().filter(|file| !is_lock(file)) {
            let content = std::fs::read(file).unwrap();
            for place in (0..content.len()).step_by(content.len() / 12 + 1) {
                let mut damaged = content.clone();
                damaged[place] ^= 1 << (place % 8);
                std::fs::write(file, damaged).unwrap();
                look(file, &format!("byte {place} of {}", file.display()));
            }
            std::fs::write(file, content).unwrap();
        }
    }
}

#[test]
fn a_search_in_damaged_files_fails_or_answers_as_before() {
    let (directory, store) = filled();
    let before = answers(&store);
    drop(store);
    let answered = std::cell::Cell::new(0);
    with_each_damage(directory.path(), |_, place| {
        let reader = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap();
        let query = LexicalQuery::new("flour sand");
        match reader.lexical(&query, &Filter::default(), 100) {
            Ok(found) => {
                let ids: Vec<PassageId> = found.hits.iter().map(|hit| hit.passage).collect();
                assert_eq!(texts(&reader, &ids), before.0, "{place}");
                answered.set(answered.get() + 1);
            }
            Err(StoreError::Lexical { .. } | StoreError::Unpublished { .. }) => {}
            Err(error) => panic!("{place}: {error}"),
        }
        let all: Vec<PassageId> = all(&reader);
        let scores = reader.bm25(&query, &Filter::default(), &all);
        let fits = matches!(scores, Ok(_) | Err(StoreError::Lexical { .. } | StoreError::Unpublished { .. }));
        assert!(fits, "{place}: {scores:?}");
        // Vectors are in the database as well, and are searched from there.
        assert_eq!(nearest(&reader), before.1, "{place}");
    });
    assert!(answered.get() > 0, "damage in one index is none in the other");
    assert_sound(&open(directory.path()));
}

#[test]
fn a_flipped_bit_is_found_and_mended_and_rebuilt_by_whoever_may_write() {
    let (directory, store) = filled();
    let before = answers(&store);
    drop(store);
    for kind in ["idx", "term", "fieldnorm", "fast", "tvec"] {
        let (name, part) = if kind == "tvec" { ("vectors", Part::Vectors) } else { ("lexical", Part::Lexical) };
        let damage = || {
            let file = file_of_kind(&directory.path().join(name), kind);
            let mut content = std::fs::read(&file).unwrap();
            let middle = content.len() / 2;
            content[middle] ^= 0x10;
            std::fs::write(&file, content).unwrap();
            open(directory.path())
        };
        let store = damage();
        let problems = store.check().unwrap().problems;
        assert!(!problems.is_empty() && problems.iter().all(|one| one.part == part), ".{kind}: {problems:?}");
        assert_eq!(store.mend(&mut |_| Ok(())).unwrap().problems, [], ".{kind}");
        assert_eq!(answers(&store), before, "a mended .{kind} file");
        drop(store);
        let store = damage();
        assert_eq!(answers(&store), before, "a damaged .{kind} file");
        publish(&store);
        assert_sound(&store);
    }
}

#[test]
fn a_list_of_verified_files_that_is_garbage_costs_another_look_and_no_more() {
    let (directory, store) = filled();
    let before = answers(&store);
    drop(store);
    for part in ["lexical", "vectors"] {
        for text in ["", "garbage", "tamis-verified 1\nno tab\n1 2 3\tnothing.idx\n", "\u{0}"] {
            std::fs::write(directory.path().join(part).join("verified"), text).unwrap();
            assert_eq!(answers(&EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap()), before);
        }
    }
}

#[test]
fn an_index_that_lags_is_caught_up() {
    let (directory, store) = filled();
    let aside = temporary();
    for part in ["lexical", "vectors"] {
        copy(&directory.path().join(part), &aside.path().join(part));
    }
    for round in 0..3 {
        put(&store, vec![prose(&format!("new{round}.md"), &["flour, new"])]);
        store.apply(&[Change::Delete { document: id_of(&store, &format!("{round}.md")) }]).unwrap();
        complete(&store);
    }
    let before = answers(&store);
    drop(store);
    for part in ["lexical", "vectors"] {
        std::fs::remove_dir_all(directory.path().join(part)).unwrap();
        copy(&aside.path().join(part), &directory.path().join(part));
    }
    let store = open(directory.path());
    publish(&store);
    let mut after = answers(&store);
    after.0.sort();
    let mut before = before;
    before.0.sort();
    assert_eq!(after, before);
    assert_sound(&store);
}

#[test]
fn indexes_of_a_later_state_than_a_restored_database_are_rebuilt() {
    let ((directory, _), aside) = (filled(), temporary());
    copy(directory.path(), aside.path());
    let store = open(directory.path());
    put(&store, vec![prose("lost.md", &["flour that is lost"])]);
    complete(&store);
    drop(store);
    for file in files(directory.path()).iter().filter(|file| file.is_file()) {
        std::fs::remove_file(file).unwrap();
    }
    copy(aside.path(), directory.path());
    let store = open(directory.path());
    // The same change numbers as the lost ones, and more.
    put(&store, (0..5).map(|file| prose(&format!("other{file}.md"), &["flour that is not"])).collect());
    complete(&store);
    assert_sound(&store);
    let found = found(&store, "lost");
    assert!(!found.contains(&"flour that is lost".to_owned()), "{found:?}");
}

#[test]
fn a_build_that_never_ended_starts_again() {
    let (directory, store) = opened();
    put(&store, vec![prose("a.md", &["flour"])]);
    std::fs::create_dir(directory.path().join("lexical")).unwrap();
    std::fs::write(directory.path().join("lexical/0123.term"), b"half a file").unwrap();
    // A search that can publish by itself needs no publication before it.
    assert_eq!(found(&store, "flour"), ["flour"]);
    assert_sound(&store);
}

#[test]
fn a_reader_says_when_there_is_nothing_to_search() {
    let (directory, store) = filled();
    let query = LexicalQuery::new("flour");
    let reader = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap();
    assert!(!reader.lexical(&query, &Filter::default(), 5).unwrap().hits.is_empty());
    std::fs::remove_dir_all(directory.path().join("lexical")).unwrap();
    std::fs::remove_dir_all(directory.path().join("vectors")).unwrap();
    let error = reader.lexical(&query, &Filter::default(), 5).unwrap_err();
    assert!(matches!(error, StoreError::Unpublished { .. }), "{error}");
    let fresh = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(fresh.nearest(MODEL, &[1.0; 8], &Filter::default(), 5).unwrap().hits.len(), 5);
    let held = open(directory.path());
    let held = held.writer().unwrap();
    let busy = open(directory.path()).lexical(&query, &Filter::default(), 5).unwrap_err();
    assert!(matches!(busy, StoreError::Busy { .. }), "{busy}");
    drop(held);
    assert_eq!(answers(&store).0.len(), 60);
}

#[test]
fn a_reader_sees_what_another_publishes() {
    let (directory, store) = filled();
    let reader = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(answers(&reader), answers(&store));
    for round in 0..3 {
        put(&store, vec![prose(&format!("round{round}.md"), &[&format!("semolina {round}")])]);
        store.apply(&[Change::Delete { document: id_of(&store, &format!("{round}.md")) }]).unwrap();
        complete(&store);
        assert_eq!(found(&reader, "semolina").len(), round + 1);
        assert_eq!(answers(&reader), answers(&store));
    }
}

#[test]
fn the_coverage_of_the_vector_index_is_that_of_the_database() {
    let (directory, store) = filled();
    // The summary counts in the database.
    let agree = |store: &EmbeddedStore, what: &str| {
        let counted = store.summary().unwrap().models[0].coverage;
        assert_eq!(store.coverage(MODEL, &Filter::default()).unwrap(), counted, "{what}");
        counted
    };
    assert_eq!(agree(&store, "published").embedded, 60);
    put(&store, vec![prose("new.md", &["semolina", "flour and grain"])]);
    assert_eq!(agree(&store, "one of two texts is known").embedded, 61);
    embed(&store);
    assert_eq!(agree(&store, "embedded").embedded, 62);
    for number in 0..3 {
        store.apply(&[Change::Delete { document: id_of(&store, &format!("{number}.md")) }]).unwrap();
        assert_eq!(agree(&store, "deleted").embedded, 60 - 2 * number);
    }
    let reader = EmbeddedStore::open(directory.path(), Access::ReadOnly).unwrap();
    assert_eq!(agree(&reader, "another process").embedded, 56);
    publish(&store);
    agree(&store, "published again");
    drop((store, reader));
    std::fs::write(file_of_kind(&directory.path().join("vectors"), "tvec"), "no vectors").unwrap();
    assert_eq!(agree(&open(directory.path()), "damaged").embedded, 56);
    std::fs::remove_dir_all(directory.path().join("vectors")).unwrap();
    assert_eq!(agree(&open(directory.path()), "lost").embedded, 56);
}

#[test]
fn progress_counts_to_its_end() {
    let (_directory, store) = opened();
    let texts: Vec<String> = (0..2_500).map(|number| format!("text {number}")).collect();
    put(&store, vec![document("a.md", texts.iter().map(|text| passage(text)).collect())]);
    embed(&store);
    let published = || {
        let mut seen = Vec::new();
        let progress = store.publish(&mut |progress| {
            seen.push(progress);
            Ok(())
        });
        progress.map(|()| seen).unwrap()
    };
    let seen = published();
    let steps = |part: Part| -> Vec<(u64, u64)> {
        seen.iter().filter(|step| step.part == part).map(|step| (step.done, step.total)).collect()
    };
    assert_eq!(steps(Part::Lexical), [(0, 2_500), (1_000, 2_500), (2_000, 2_500), (2_500, 2_500)]);
    assert_eq!(steps(Part::Vectors), [(0, 2_500), (2_500, 2_500)], "the codes are written at once");
    assert_eq!(published().len(), 0);
}

#[test]
fn a_stopped_publication_keeps_what_was_published_and_the_next_one_does_the_rest() {
    let (directory, _) = filled();
    let texts: Vec<String> = (0..2_500).map(|number| format!("gravel {number}")).collect();
    for allowed in 0.. {
        let store = open(directory.path());
        let before = answers(&store);
        put(&store, vec![document("gravel.md", texts.iter().map(|text| passage(text)).collect())]);
        embed(&store);
        let mut asked = 0;
        let stopped = store.publish(&mut |_| {
            asked += 1;
            if asked > allowed { Err(StoreError::Cancelled) } else { Ok(()) }
        });
        drop(store);
        let store = open(directory.path());
        assert_eq!(answers(&store).0, before.0, "{allowed}");
        if stopped.is_ok() {
            assert_eq!((allowed, found(&store, "gravel").len()), (6, 100));
            assert_sound(&store);
            break;
        }
        assert!(matches!(stopped, Err(StoreError::Cancelled)), "{stopped:?}");
    }
}
