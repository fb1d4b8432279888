//! A full disk: the index can still be searched and described, and committed changes stay.
#![cfg(unix)]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::*;

/// A small file system of its own.
struct Disk {
    place: tempfile::TempDir,
}

impl Disk {
    /// One of so many KiB; `None` if this user may not mount any.
    fn of(kib: u32) -> Option<Disk> {
        let place = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "tamis-test"]).arg(place.path());
        let mounted = mount.output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Disk { place });
        }
        println!("skipped: this user may not mount a small file system");
        None
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    /// Fills it up, except for about `left` bytes.
    fn fill(&self, left: usize) {
        let room = self.path().join("room");
        std::fs::write(&room, vec![0; left]).unwrap();
        let mut filler = File::create(self.path().join("filler")).unwrap();
        let block = [1; 4096];
        while filler.write_all(&block).is_ok() {}
        std::fs::remove_file(room).unwrap();
    }

    fn empty(&self) {
        std::fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}

fn index(disk: &Disk) -> PathBuf {
    let directory = disk.path().join("index");
    let store = open(&directory);
    put(&store, vec![prose("a.md", &["flour and grain", "sand"])]);
    complete(&store);
    directory
}

#[test]
fn an_index_on_a_full_disk_is_searched_described_and_read_on_by_whoever_began_there() {
    let Some(disk) = Disk::of(32 << 10) else { return };
    let directory = index(&disk);
    drop(EmbeddedUsageLog::open(&directory, Access::ReadWrite).unwrap());
    for left in [0, 4 << 10, 16 << 10, 28 << 10] {
        disk.fill(left);
        assert_eq!(EmbeddedUsageLog::open(&directory, Access::ReadOnly).unwrap().recent(5).unwrap().len(), 0);
        assert!(EmbeddedUsageLog::check(&directory).unwrap().is_some());
        let store = EmbeddedStore::open(&directory, Access::ReadOnly).unwrap();
        assert_eq!(found(&store, "flour"), ["flour and grain"], "{left} bytes left");
        assert_eq!(store.nearest(MODEL, &[1.0; 8], &Filter::default(), 5).unwrap().hits.len(), 2);
        assert_eq!(store.summary().unwrap().passages, 2);
        assert_sound(&store);
        drop(store);
        match EmbeddedStore::open(&directory, Access::ReadWrite) {
            Ok(store) => assert_eq!(found(&store, "flour"), ["flour and grain"]),
            Err(error) => assert!(matches!(error, StoreError::Full { .. }), "{error}"),
        }
        disk.empty();
    }
    let directory = index(&disk);
    disk.fill(0);
    let reader = EmbeddedStore::open(&directory, Access::ReadOnly).unwrap();
    assert_eq!(found(&reader, "flour").len(), 1);
    disk.empty();
    let store = open(&directory);
    put(&store, vec![prose("b.md", &["flour again"])]);
    publish(&store);
    assert_eq!(found(&reader, "flour").len(), 2);
    assert_eq!(reader.documents("here").unwrap().len(), 2);
}

#[test]
fn a_publication_without_room_leaves_the_state_before_it_to_search() {
    let Some(disk) = Disk::of(32 << 10) else { return };
    let directory = index(&disk);
    let store = open(&directory);
    let words = |number: usize| (0..20).map(|word| format!(" w{number}x{word}")).collect::<String>();
    let texts: Vec<String> = (0..1_500).map(|number| format!("flour of another mill{}", words(number))).collect();
    put(&store, vec![document("b.md", texts.iter().map(|text| passage(text)).collect())]);
    disk.fill(24 << 10);
    let error = store.publish(&mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert_eq!(found(&store, "grain"), ["flour and grain"]);
    assert_eq!(store.documents("here").unwrap().len(), 2, "what was committed stays");
    disk.empty();
    publish(&store);
    assert_eq!(found(&store, "mill").len(), 100);
    assert_sound(&store);
}

#[test]
fn a_change_without_room_is_refused_whole() {
    let Some(disk) = Disk::of(32 << 10) else { return };
    let directory = index(&disk);
    let store = open(&directory);
    disk.fill(64 << 10);
    let error = store.apply(&[Change::Put(prose("b.md", &[&"flour ".repeat(100_000)]))]).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert_eq!(store.documents("here").unwrap().len(), 1);
    disk.empty();
    put(&store, vec![prose("b.md", &["flour again"])]);
    publish(&store);
    assert_sound(&store);
}

#[test]
fn a_new_index_without_room_is_whole_or_not_there() {
    let mut refused = 0;
    for kib in (64..=640).step_by(16) {
        let Some(disk) = Disk::of(kib) else { return };
        let directory = disk.path().join("index");
        match EmbeddedStore::open(&directory, Access::ReadWrite) {
            Ok(store) => assert!(store.check().is_ok_and(|findings| findings.problems.is_empty()), "{kib} KiB"),
            Err(error) => {
                refused += 1;
                assert!(!matches!(error, StoreError::Corrupt { .. }), "{kib} KiB: {error}");
                let again = EmbeddedStore::open(&directory, Access::ReadOnly);
                assert!(matches!(again, Err(StoreError::Missing { .. })), "{kib} KiB: {:?}", again.err());
            }
        }
    }
    assert!(refused > 0, "every disk had room");
}
