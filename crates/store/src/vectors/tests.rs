//! The index against brute force, and unexpected files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;

const DIMENSION: usize = 24;

fn identity() -> Identity {
    Identity { instance: [5; 16], model: "test".to_owned(), dimension: DIMENSION }
}

fn ready(path: &Path) -> Arc<Snapshot> {
    match Snapshot::open(path, &identity()).unwrap() {
        Opened::Ready(snapshot) => snapshot,
        other => panic!("expected a whole file, found {other:?}"),
    }
}

/// Deterministic vectors, clustered a little so that neighbours exist.
fn vector(seed: u64) -> Vec<f32> {
    let mut random = blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof();
    let mut bytes = [0; 4 * DIMENSION];
    random.fill(&mut bytes);
    let (numbers, _) = bytes.as_chunks::<4>();
    let value = |(position, bytes): (usize, &[u8; 4])| {
        let noise = i32::from_le_bytes(*bytes) as f32 / i32::MAX as f32;
        noise + if position as u64 == seed % 5 { 1.0 } else { 0.0 }
    };
    numbers.iter().enumerate().map(value).collect()
}

/// Both stages, however few the rows.
fn signs() -> Effort {
    Effort { exact_rows: 0, ..Effort::default() }
}

fn nearest(index: &VectorIndex, query: &[f32], keep: Option<DocumentFilter<'_>>, count: usize) -> Nearest {
    with_effort(index, query, keep, count, &Effort::default())
}

fn with_effort(
    index: &VectorIndex,
    query: &[f32],
    keep: Option<DocumentFilter<'_>>,
    count: usize,
    effort: &Effort,
) -> Nearest {
    let rows = keep.map(|keep| index.rows_of_documents(keep));
    index.nearest(query, rows.as_ref(), count, effort).unwrap()
}

/// The expected content of an index: the document and the vector of each passage.
type Model = BTreeMap<u64, (u32, Vec<f32>)>;

fn write(path: &Path, model: &Model) -> Result<(), VectorError> {
    let mut writer = SnapshotWriter::create(path, &identity(), 7)?;
    for (passage, (document, vector)) in model {
        writer.push(*passage, *document, vector)?;
    }
    writer.finish()
}

fn snapshot_of(rows: u64) -> (tempfile::TempDir, PathBuf, Model) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("vectors").join("test.tvec");
    let model: Model = (0..rows).map(|row| (row * 3 + 1, ((row / 4) as u32, vector(row)))).collect();
    write(&path, &model).unwrap();
    (directory, path, model)
}

fn brute_force(model: &Model, query: &[f32], keep: impl Fn(u32) -> bool) -> Vec<(u64, f32)> {
    let kept = model.iter().filter(|(_, (document, _))| keep(*document));
    let mut all: Vec<_> = kept.map(|(passage, (_, vector))| (*passage, cosine(query, vector))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}

/// Hits are the brute-force ones up to the rounding of codes, and so is the background.
fn assert_agrees(
    index: &VectorIndex,
    model: &Model,
    query: &[f32],
    keep: Option<DocumentFilter<'_>>,
    count: usize,
) -> Result<(), TestCaseError> {
    const ROUNDING: f32 = 0.02;
    let nearest = nearest(index, query, keep, count);
    let expected = brute_force(model, query, |document| keep.is_none_or(|keep| keep(document)));
    prop_assert_eq!(nearest.hits.len(), count.min(expected.len()));
    prop_assert!(nearest.hits.is_sorted_by(|a, b| (b.similarity, a.passage) <= (a.similarity, b.passage)));
    let exact: BTreeMap<u64, f32> = expected.iter().copied().collect();
    for (hit, (_, at_rank)) in nearest.hits.iter().zip(&expected) {
        prop_assert!((hit.similarity - exact[&hit.passage]).abs() < ROUNDING);
        prop_assert!((hit.similarity - at_rank).abs() < ROUNDING);
    }
    let background = nearest.background;
    prop_assert_eq!((background.count, background.sampled), (expected.len(), expected.len()));
    if !expected.is_empty() {
        let count = expected.len() as f32;
        let mean = expected.iter().map(|(_, similarity)| similarity).sum::<f32>() / count;
        let deviation =
            (expected.iter().map(|(_, similarity)| (similarity - mean).powi(2)).sum::<f32>() / count).sqrt();
        for (found, expected) in [(background.mean, mean), (background.deviation, deviation)] {
            prop_assert!((found - expected).abs() < ROUNDING, "{} where {} belongs: {:?}", found, expected, background);
        }
    }
    Ok(())
}

#[derive(Debug, Clone)]
enum Change {
    Add(u64, u32, u64),
    Delete(u64),
    Save,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let passage = || 0_u64..60;
    let change = prop_oneof![
        6 => (passage(), 0_u32..6, 0_u64..40).prop_map(|(passage, document, seed)| Change::Add(passage, document, seed)),
        3 => passage().prop_map(Change::Delete),
        1 => Just(Change::Save),
    ];
    prop::collection::vec(change, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_history_searches_like_brute_force(
        history in changes(),
        first in 0_u64..40,
        query in 0_u64..1000,
        excluded in 0_u32..6,
        count in 0_usize..70,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.tvec");
        let mut model: Model = (0..first).map(|row| (row, ((row % 6) as u32, vector(row)))).collect();
        write(&path, &model).unwrap();
        let mut index = VectorIndex::from_snapshot(ready(&path));
        for change in history {
            match change {
                Change::Add(passage, document, seed) => {
                    index.add(passage, document, &vector(seed)).unwrap();
                    model.insert(passage, (document, vector(seed)));
                }
                Change::Delete(passage) => prop_assert_eq!(index.delete(passage), model.remove(&passage).is_some()),
                Change::Save => {
                    index.save(&path, &identity()).unwrap();
                    let snapshot = ready(&path);
                    prop_assert_eq!(snapshot.verify(), Ok(()));
                    let saved = VectorIndex::from_snapshot(snapshot);
                    let query = vector(query);
                    prop_assert_eq!(nearest(&saved, &query, None, count).hits, nearest(&index, &query, None, count).hits);
                    index = saved;
                }
            }
        }
        let mut passages: Vec<u64> = index.passages().collect();
        passages.sort_unstable();
        prop_assert_eq!(&passages, &model.keys().copied().collect::<Vec<u64>>());
        prop_assert_eq!(index.len(), model.len());
        for passage in 0..60 {
            prop_assert_eq!(index.contains(passage), model.contains_key(&passage));
        }
        let query = vector(query);
        assert_agrees(&index, &model, &query, None, count)?;
        assert_agrees(&index, &model, &query, Some(&|document| document != excluded), count)?;
        assert_agrees(&index, &model, &query, Some(&|_| false), count)?;
        let odd: Model = model.iter().filter(|(passage, _)| *passage % 2 == 1).map(|(passage, row)| (*passage, row.clone())).collect();
        let rows = index.rows_of_passages(&|passage| passage % 2 == 1);
        let of_odd = index.nearest(&query, Some(&rows), 60, &Effort::default()).unwrap();
        prop_assert_eq!(of_odd.background.count, odd.len());
        let mut found: Vec<u64> = of_odd.hits.iter().map(|hit| hit.passage).collect();
        found.sort_unstable();
        prop_assert_eq!(found, odd.into_keys().collect::<Vec<u64>>());
    }

    #[test]
    fn a_damaged_file_never_panics(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        shortened in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (_directory, path, _) = snapshot_of(150);
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        for (at, value) in damage {
            *at.get_mut(&mut bytes) = value;
        }
        if let Some(length) = shortened {
            bytes.truncate(length.index(bytes.len()));
        }
        // Under another name, because the first file may be mapped.
        let damaged = path.with_extension("damaged");
        fs::write(&damaged, &bytes).unwrap();
        match Snapshot::open(&damaged, &identity()).unwrap() {
            Opened::Ready(snapshot) => {
                prop_assert_eq!(bytes.len(), whole.len());
                prop_assert_eq!(snapshot.verify().is_ok(), bytes == whole);
                let mut index = VectorIndex::from_snapshot(snapshot);
                for exact_rows in [0, 1000] {
                    let nearest = index.nearest(&vector(3), None, 20, &Effort { exact_rows, ..Effort::default() }).unwrap();
                    prop_assert!(nearest.hits.iter().all(|hit| hit.similarity.is_finite()));
                }
                index.delete(4);
                let _ = index.save(&path, &identity());
            }
            Opened::Stale(reason) | Opened::Corrupt(reason) => prop_assert!(!reason.is_empty()),
            Opened::Missing => prop_assert!(false, "the file exists"),
        }
    }
}

#[test]
fn the_sign_codes_find_what_brute_force_finds() {
    let (_directory, path, mut model) = snapshot_of(6_000);
    let mut index = VectorIndex::from_snapshot(ready(&path));
    for passage in [1, 4, 7, 6_001, 17_998] {
        assert!(index.delete(passage));
        model.remove(&passage);
    }
    for row in 0..500 {
        index.add(100_000 + row, 9_999_u32, &vector(row + 50_000)).unwrap();
        model.insert(100_000 + row, (9_999, vector(row + 50_000)));
    }
    let with = |instructions| Effort { instructions, ..signs() };
    let (mut found, mut wanted) = (0, 0);
    for seed in 0..20 {
        let query = vector(1_000_000 + seed);
        for keep in [None, Some(&(|document: u32| document % 2 == 1) as DocumentFilter<'_>)] {
            let all = brute_force(&model, &query, |document| keep.is_none_or(|keep| keep(document)));
            let expected: Vec<u64> = all.iter().take(20).map(|(passage, _)| *passage).collect();
            let reference = with_effort(&index, &query, keep, 40, &with(Instructions::available()[0]));
            for level in Instructions::available() {
                assert_eq!(with_effort(&index, &query, keep, 40, &with(level)), reference, "{}", level.name());
            }
            found +=
                expected.iter().filter(|passage| reference.hits.iter().any(|hit| hit.passage == **passage)).count();
            wanted += expected.len();
        }
    }
    assert!(found * 1000 >= wanted * 995, "{found} of {wanted}");
}

#[test]
fn the_background_of_a_large_corpus_is_sampled() {
    let (_directory, path, model) = snapshot_of(12_000);
    let index = VectorIndex::from_snapshot(ready(&path));
    let query = vector(77);
    for keep in [None, Some(&(|document: u32| document % 8 != 3) as DocumentFilter<'_>)] {
        let sampled = with_effort(&index, &query, keep, 10, &signs()).background;
        let exact = nearest(&index, &query, keep, 10).background;
        assert_eq!((sampled.count, sampled.sampled, exact.sampled), (exact.count, 8_192, exact.count));
        assert!((sampled.mean - exact.mean).abs() < 0.01, "{sampled:?} {exact:?}");
        assert!((sampled.deviation - exact.deviation).abs() < 0.01, "{sampled:?} {exact:?}");
    }
    assert_eq!(index.len(), model.len());
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let (_directory, path, _) = snapshot_of(20_000);
    let index = VectorIndex::from_snapshot(ready(&path));
    let search = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| index.nearest(&vector(5), None, 100, &signs()).unwrap())
    };
    let one = search(1);
    assert_eq!(one.hits.len(), 100);
    assert_eq!(search(2), one);
    assert_eq!(search(7), one);
}

#[test]
fn rows_are_chosen_once_and_not_kept_past_a_change() {
    let (_directory, path, _) = snapshot_of(300);
    let mut index = VectorIndex::from_snapshot(ready(&path));
    index.add(1_000, 7_u32, &vector(1_000)).unwrap();
    let keep: DocumentFilter<'_> = &|document| document % 3 == 1;
    let rows = index.rows_of_documents(keep);
    for query in [vector(1), vector(2)] {
        let among = index.nearest(&query, Some(&rows), 20, &Effort::default()).unwrap();
        assert_eq!(among, nearest(&index, &query, Some(keep), 20));
        assert_eq!(among.background.count, rows.len());
    }
    assert!(index.rows_of_documents(&|_| false).is_empty());
    assert_eq!(index.rows_of_passages(&|passage| passage == 1_000).len(), 1);
    index.delete(1_000);
    let error = index.nearest(&vector(1), Some(&rows), 20, &Effort::default()).unwrap_err();
    assert!(matches!(error, VectorError::Changed), "{error}");
}

#[test]
fn what_is_found_in_one_namespace_does_not_depend_on_others() {
    let directory = tempfile::tempdir().unwrap();
    // Every third passage is of the namespace searched; the others lie elsewhere, all on one side.
    let stranger = |seed: u64| vector(seed).iter().map(|value| value + 3.0).collect::<Vec<f32>>();
    let write = |name: &str, every: bool| {
        let path = directory.path().join(name);
        let mut writer = SnapshotWriter::create(&path, &identity(), 1).unwrap();
        for passage in 0..4_500 {
            // Whole groups of one namespace, and groups of both.
            let own = if passage < 2_000 { passage / 100 % 3 == 0 } else { passage % 3 == 0 };
            let (namespace, vector) = if own { (4, vector(passage)) } else { (9, stranger(passage)) };
            if own || every {
                writer.push(passage, Owner { document: namespace, namespace }, &vector).unwrap();
            }
        }
        writer.finish().unwrap();
        VectorIndex::from_snapshot(ready(&path))
    };
    let (both, own) = (write("both.tvec", true), write("own.tvec", false));
    let keep: DocumentFilter<'_> = &|document| document == 4;
    for seed in 0..20 {
        let effort = Effort { depth: Some(150), sample: 500, ..signs() };
        let query = vector(90_000 + seed);
        let found = with_effort(&both, &query, Some(keep), 100, &effort);
        assert_eq!(found, own.nearest(&query, None, 100, &effort).unwrap());
    }
}

#[test]
fn an_empty_index_finds_nothing() {
    let (_directory, path, _) = snapshot_of(0);
    for index in [VectorIndex::new(DIMENSION).unwrap(), VectorIndex::from_snapshot(ready(&path))] {
        assert_eq!(nearest(&index, &vector(1), None, 10), Nearest::default());
        assert!(index.is_empty() && !index.wants_rewrite() && index.passages().next().is_none());
    }
}

#[test]
fn the_length_of_a_vector_does_not_matter_and_zero_is_similar_to_nothing() {
    let mut index = VectorIndex::new(DIMENSION).unwrap();
    let long: Vec<f32> = vector(1).iter().map(|value| value * 1e6).collect();
    index.add(1, 1_u32, &long).unwrap();
    index.add(2, 1_u32, &[0.0; DIMENSION]).unwrap();
    let hits = nearest(&index, &vector(1), None, 10).hits;
    assert!((hits[0].similarity - 1.0).abs() < 0.01);
    assert_eq!((hits[1].passage, hits[1].similarity), (2, 0.0));
    let hits = nearest(&index, &[0.0; DIMENSION], None, 10).hits;
    assert!(hits.iter().all(|hit| hit.similarity == 0.0));
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let (directory, path, _) = snapshot_of(10);
    let mut index = VectorIndex::from_snapshot(ready(&path));
    let before = nearest(&index, &vector(2), None, 100);
    let mut infinite = vector(1);
    infinite[3] = f32::NEG_INFINITY;
    let dimensions = |given: u32| {
        format!("a vector of {given} dimensions was given to an index of 24; embed it with the index's model")
    };
    let nearest_to = |query: &[f32]| index.nearest(query, None, 1, &Effort::default()).unwrap_err().to_string();
    assert_eq!(nearest_to(&[1.0; 25]), dimensions(25));
    assert_eq!(nearest_to(&infinite), "the query's vector holds -inf at position 3; embed the query again");
    let mut added = |vector: &[f32]| index.add(1, 1_u32, vector).unwrap_err().to_string();
    assert_eq!(added(&[1.0]), dimensions(1));
    assert_eq!(added(&infinite), "the vector of passage 1 holds -inf at position 3; embed the passage again");
    let other = index.save(&path, &Identity { dimension: 8, ..identity() }).unwrap_err();
    assert_eq!(other.to_string(), dimensions(8));
    let none = VectorIndex::new(0).unwrap_err().to_string();
    assert_eq!(none, "0 dimensions are not possible; a vector has 1 to 65536");
    assert_eq!(nearest(&index, &vector(2), None, 100), before);

    let mut writer = SnapshotWriter::create(&directory.path().join("other"), &identity(), 0).unwrap();
    writer.push(5, 1_u32, &vector(1)).unwrap();
    assert!(matches!(writer.push(5, 1_u32, &vector(1)), Err(VectorError::Order { previous: 5, passage: 5 })));
    assert!(matches!(writer.push(6, 1_u32, &infinite), Err(VectorError::NonFinite { passage: 6, position: 3, .. })));
    let long = Identity { model: "m".repeat(257), ..identity() };
    assert!(matches!(SnapshotWriter::create(&path, &long, 0), Err(VectorError::ModelName { .. })));
}

#[test]
fn an_unfinished_file_leaves_the_old_one() {
    let (directory, path, _) = snapshot_of(10);
    let mut writer = SnapshotWriter::create(&path, &identity(), 99).unwrap();
    writer.push(1, 1_u32, &vector(1)).unwrap();
    drop(writer);
    assert_eq!((ready(&path).len(), ready(&path).seq()), (10, 7));
    assert_eq!(fs::read_dir(directory.path().join("vectors")).unwrap().count(), 1);
}

#[test]
fn a_reader_keeps_the_file_that_was_replaced() {
    let (_directory, path, _) = snapshot_of(100);
    let old = VectorIndex::from_snapshot(ready(&path));
    let before = nearest(&old, &vector(2), None, 100);
    write(&path, &Model::new()).unwrap();
    assert_eq!(ready(&path).len(), 0);
    assert_eq!(nearest(&old, &vector(2), None, 100), before);
}

#[test]
fn a_file_of_something_else_is_stale_and_of_nothing_corrupt() {
    let (directory, path, _) = snapshot_of(10);
    let opened = |identity: &Identity| format!("{:?}", Snapshot::open(&path, identity).unwrap());
    let other = opened(&Identity { instance: [6; 16], ..identity() });
    assert_eq!(other, r#"Stale("the file belongs to another database")"#);
    let other = opened(&Identity { model: "other".to_owned(), ..identity() });
    assert_eq!(other, r#"Stale("the file holds vectors of `test` in 24 dimensions, not of `other` in 24")"#);
    assert!(opened(&Identity { dimension: 25, ..identity() }).starts_with("Stale"));
    assert!(matches!(Snapshot::open(&directory.path().join("none"), &identity()).unwrap(), Opened::Missing));
    assert!(matches!(Snapshot::open(directory.path(), &identity()).unwrap(), Opened::Corrupt(_)));

    let whole = fs::read(&path).unwrap();
    let mut newer = whole.clone();
    newer[12] += 1;
    for (content, state, reason) in [
        (&[][..], "Corrupt", "the file is shorter than its header"),
        (&whole[..whole.len() - 1], "Corrupt", "the file has 2563 bytes where 2564 belong"),
        (&[7; 4096], "Corrupt", "the file does not begin as a vector file does"),
        (&newer, "Stale", "\"the file is of version 3, this program writes 2\""),
    ] {
        let damaged = path.with_extension("damaged");
        fs::write(&damaged, content).unwrap();
        let found = format!("{:?}", Snapshot::open(&damaged, &identity()).unwrap());
        assert!(found.starts_with(state) && found.contains(reason), "{found}");
    }
}

#[test]
fn a_file_wants_rewriting_when_much_has_changed() {
    let (_directory, path, _) = snapshot_of(3_000);
    let mut index = VectorIndex::from_snapshot(ready(&path));
    assert_eq!(index.seq(), 7);
    for passage in 0..1_000 {
        assert!(index.delete(passage * 3 + 1));
        index.add(1_000_000 + passage, 1_u32, &vector(passage)).unwrap();
    }
    assert!(!index.wants_rewrite());
    index.delete(3_001);
    assert!(index.wants_rewrite());
    index.advance(12);
    index.advance(3);
    index.save(&path, &identity()).unwrap();
    let saved = VectorIndex::from_snapshot(ready(&path));
    assert_eq!((saved.seq(), saved.len(), saved.wants_rewrite()), (12, 2_999, false));
}
