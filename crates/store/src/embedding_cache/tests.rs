use proptest::prelude::*;
use tempfile::{TempDir, tempdir};

use super::*;

fn open(directory: &TempDir, most: u64) -> EmbeddingCache {
    EmbeddingCache::open(directory.path(), most).expect("open")
}

fn empty(most: u64) -> (TempDir, EmbeddingCache) {
    let directory = tempdir().expect("a temporary directory");
    let cache = open(&directory, most);
    (directory, cache)
}

fn model(dimension: usize) -> ModelKey {
    ModelKey { id: "toy".into(), dimension }
}

/// A vector of unit length, different for each number.
fn unit(number: u32, dimension: usize) -> Vec<f32> {
    let angle = number as f32;
    let mut vector = vec![0.0; dimension];
    (vector[0], vector[1]) = (angle.cos(), angle.sin());
    vector
}

fn rows(numbers: std::ops::Range<u32>, dimension: usize) -> Vec<(TextHash, Vec<f32>)> {
    numbers.map(|number| (TextHash::from_text(&number.to_string()), unit(number, dimension))).collect()
}

fn hashes(numbers: std::ops::Range<u32>) -> Vec<TextHash> {
    numbers.map(|number| TextHash::from_text(&number.to_string())).collect()
}

fn hits(cache: &EmbeddingCache, numbers: std::ops::Range<u32>, dimension: usize, day: i64) -> usize {
    cache.get(&model(dimension), &hashes(numbers), day).expect("read").iter().flatten().count()
}

#[test]
fn neither_text_nor_path_is_in_the_file() {
    let (_directory, cache) = empty(1 << 20);
    let secret = "the text that nobody else shall read";
    cache.put(&model(4), &[(TextHash::from_text(secret), unit(3, 4))], 1).expect("kept");
    let path = cache.path().to_owned();
    drop(cache);
    for file in [path.clone(), crate::files::beside(&path, "-wal")] {
        let bytes = std::fs::read(file).unwrap_or_default();
        assert!(!bytes.windows(8).any(|window| secret.as_bytes().windows(8).any(|part| part == window)));
    }
}

#[test]
fn what_no_model_gives_is_neither_kept_nor_used() {
    let (_directory, cache) = empty(1 << 20);
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(TextHash::from_text);
    let given = [
        (a, vec![f32::NAN, 0.0]),
        (b, vec![1.0, 0.0, 0.0]),
        (c, vec![0.0, 0.0]),
        (d, vec![f32::INFINITY, 0.0]),
        (e, vec![3.0, 4.0]),
    ];
    assert_eq!(cache.put(&model(2), &given, 1).expect("kept"), 1, "the zero vector alone");
    let kept = cache.get(&model(2), &[a, b, c, d, e], 1).expect("read");
    assert_eq!(kept, [None, None, Some(vec![0.0, 0.0]), None, None]);

    let tampered = |blob: &[u8]| {
        lock(&cache.connection).execute("UPDATE vectors SET vector = ?1", [blob]).expect("written");
        cache.get(&model(2), &[c], 1).expect("read")[0].clone()
    };
    let bytes = |entries: &[f32]| entries.iter().flat_map(|entry| entry.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(tampered(&bytes(&[0.6, 0.8])), Some(vec![0.6, 0.8]));
    for wrong in [bytes(&[f32::NAN, 0.0]), bytes(&[1.0, 0.0, 0.0]), bytes(&[9.0, 0.0]), vec![0; 7], Vec::new()] {
        assert_eq!(tampered(&wrong), None, "{wrong:?}");
    }
    assert_eq!(cache.put(&model(2), &[(c, vec![0.0, 1.0])], 1).expect("kept"), 1);
    assert_eq!(cache.get(&model(2), &[c], 1).expect("read"), [Some(vec![0.0, 1.0])], "a damaged one is replaced");
}

#[test]
fn what_was_not_used_for_longest_goes_first() {
    let directory = tempdir().expect("a temporary directory");
    let dimension = 384;
    let most = 4 << 20;
    let cache = EmbeddingCache::open(directory.path(), most).expect("open");
    cache.put(&model(dimension), &rows(0..1000, dimension), 1).expect("kept");
    cache.put(&model(dimension), &rows(1000..2600, dimension), 2).expect("kept");
    assert!(cache.summary().expect("read").bytes > most, "{:?}", cache.summary());
    assert_eq!(hits(&cache, 0..200, dimension, 3), 200, "used again");
    assert_eq!(cache.put(&model(dimension), &rows(2600..2610, dimension), 3).expect("kept"), 10);
    let left = cache.summary().expect("read");
    assert!(left.bytes <= most * 8 / 10, "{left:?}");
    assert!(left.vectors > 1000, "no more goes than has to: {left:?}");
    assert_eq!(hits(&cache, 0..200, dimension, 3), 200, "used today");
    assert_eq!(hits(&cache, 2600..2610, dimension, 3), 10);
    assert_eq!(hits(&cache, 200..1000, dimension, 3), 0, "the oldest");
    assert!(hits(&cache, 1000..2600, dimension, 3) > 800);
    let file = std::fs::metadata(cache.path()).expect("there").len();
    drop(cache);
    let now = std::fs::metadata(directory.path().join(FILE)).expect("there").len();
    assert!(now <= file.max(most), "space is given back");
}

#[test]
fn room_is_made_once_a_day_and_who_may_not_make_it_takes_nothing_from_others() {
    let (_directory, cache) = empty(200_000);
    let model = model(384);
    cache.put(&model, &rows(0..500, 384), 5).expect("kept");
    assert_eq!(cache.put(&model, &rows(500..900, 384), 5).expect("kept"), 400, "room was made");
    assert_eq!(cache.put(&model, &rows(900..910, 384), 5).expect("kept"), 0, "not again today");
    assert_eq!(cache.prune(5).expect("pruned"), 0);
    assert!(cache.prune(6).expect("pruned") > 0);
    assert_eq!(cache.put(&model, &rows(900..910, 384), 6).expect("kept"), 10);
    let (directory, cache) = empty(1 << 30);
    cache.put(&self::model(384), &rows(0..500, 384), 5).expect("kept");
    let small = open(&directory, 1000).without_making_room();
    assert_eq!(small.put(&self::model(384), &rows(500..510, 384), 9).expect("kept"), 0);
    assert_eq!(small.prune(9).expect("pruned"), 0);
    assert_eq!(hits(&small, 0..500, 384, 9), 500);
}

#[test]
fn a_damaged_cache_is_moved_aside_and_begun_anew() {
    let directory = tempdir().expect("a temporary directory");
    let path = directory.path().join(FILE);
    for damaged in ["no database at all".repeat(300), "half a database".repeat(9000)] {
        std::fs::write(&path, &damaged).expect("written");
        let cache = EmbeddingCache::open(directory.path(), 1 << 20).expect("begun anew");
        assert_eq!(cache.put(&model(2), &rows(0..3, 2), 1).expect("kept"), 3);
        let aside = std::fs::read_to_string(crate::files::beside(&path, ".damaged")).expect("kept aside");
        assert!(aside == damaged);
        drop(cache);
        assert_eq!(hits(&open(&directory, 1 << 20), 0..3, 2, 1), 3);
    }
    let other = Connection::open(&path).expect("open");
    other.pragma_update(None, "application_id", 7).expect("written");
    drop(other);
    assert_eq!(hits(&EmbeddingCache::open(directory.path(), 1 << 20).expect("begun anew"), 0..3, 2, 1), 0);
}

#[test]
fn damage_within_is_found_and_a_sound_cache_is_left_alone() {
    let (directory, cache) = empty(1 << 30);
    cache.put(&model(384), &rows(0..2000, 384), 1).expect("kept");
    assert_eq!(cache.damage().expect("read"), None);
    let path = cache.path().to_owned();
    assert_eq!(cache.begin_anew().expect("looked at"), None, "sound");
    let mut bytes = std::fs::read(&path).expect("there");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40_000].fill(0xa5);
    std::fs::write(&path, bytes).expect("written");
    let cache = EmbeddingCache::open(directory.path(), 1 << 30).expect("its first page is sound");
    assert!(cache.damage().expect("read").is_some());
    // It may return anything, but must do no harm.
    let _ = cache.get(&model(384), &hashes(0..2000), 1);
    assert!(cache.begin_anew().expect("moved").is_some_and(|aside| aside.exists()));
    assert_eq!(open(&directory, 1 << 30).summary().expect("read").vectors, 0);
}

#[test]
fn a_cache_that_another_process_keeps_is_busy_and_one_of_another_version_is_left_alone() {
    let (directory, cache) = empty(1 << 20);
    cache.put(&model(2), &rows(0..3, 2), 1).expect("kept");
    let other = Connection::open(cache.path()).expect("open");
    other.execute_batch("BEGIN IMMEDIATE").expect("held");
    assert!(matches!(cache.put(&model(2), &rows(3..6, 2), 1), Err(StoreError::Busy { .. })));
    assert_eq!(hits(&cache, 0..3, 2, 2), 3, "reading waits for nobody, and what cannot be noted is not");
    other.execute_batch("ROLLBACK; PRAGMA user_version = 99").expect("written");
    drop((cache, other));
    assert!(matches!(EmbeddingCache::open(directory.path(), 1 << 20), Err(StoreError::OtherVersion { found: 99, .. })));
}

#[cfg(unix)]
#[test]
fn the_directory_is_the_users_alone_and_a_directory_that_cannot_be_made_is_an_error_that_names_it() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempdir().expect("a temporary directory");
    let inside = directory.path().join("a/b");
    EmbeddingCache::open(&inside, 1).expect("open");
    assert_eq!(std::fs::metadata(inside).expect("there").permissions().mode() & 0o777, 0o700);
    let file = directory.path().join("file");
    std::fs::write(&file, "").expect("written");
    let error = EmbeddingCache::open(file.join("cache"), 1).expect_err("no directory").to_string();
    assert!(error.contains("file"), "{error}");
}

#[test]
fn several_at_once_lose_nothing() {
    let directory = tempdir().expect("a temporary directory");
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let directory = &directory;
            scope.spawn(move || {
                let cache = open(directory, 1 << 30);
                for part in 0..10 {
                    let from = thread * 1000 + part * 20;
                    cache.put(&model(8), &rows(from..from + 20, 8), 1).expect("kept");
                    assert_eq!(hits(&cache, from..from + 20, 8, 2), 20);
                }
            });
        }
    });
    let cache = open(&directory, 1 << 30);
    assert_eq!((cache.summary().expect("read").vectors, cache.damage().expect("read")), (800, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_is_kept_comes_back_for_its_model_alone(
        entries in prop::collection::vec((0u32..40, 0usize..3, 1i64..5), 1..60),
    ) {
        let (_directory, cache) = empty(1 << 30);
        let models = ["a", "b", "c"].map(|id| ModelKey { id: id.into(), dimension: 3 });
        let mut expected = std::collections::HashMap::new();
        for (place, &(text, model, day)) in entries.iter().enumerate() {
            let vector = unit(place as u32, 3);
            let hash = TextHash::from_text(&text.to_string());
            cache.put(&models[model], &[(hash, vector.clone())], day).expect("kept");
            expected.insert((text, model), vector);
        }
        for (number, model) in models.iter().enumerate() {
            let found = cache.get(model, &hashes(0..40), 9).expect("read");
            for (text, vector) in (0u32..).zip(found) {
                prop_assert_eq!(vector.as_ref(), expected.get(&(text, number)));
            }
        }
    }
}
