//! Evidence is imported whole or not at all, repeating it changes nothing, and a search finds no broken record.

use std::sync::LazyLock;
use tamis::config::Config;
use tamis::evidence::EvidenceImport;
use tamis::import::ImportInput;
use tamis::{Index, Location};

struct Library {
    index: Index,
    _directory: tempfile::TempDir,
}

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    let mut config = Config::built_in();
    config.index.models = vec!["static".into()];
    let index = Index::at(Location::at(directory.path(), None), config).expect("an index");
    Library { index, _directory: directory }
});

pub fn check(data: &[u8]) {
    let index = &LIBRARY.index;
    let input = ImportInput { name: "graph.jsonl".into(), bytes: data.to_vec() };
    let import = EvidenceImport::from_inputs(&[input], Some("fuzz"));
    assert!(import.bad.iter().all(|bad| bad.reason.len() < 4000), "{:?}", import.bad);
    let strict = index.evidence().import(&EvidenceImport { dry_run: true, ..import.clone() }, &());
    let lenient = EvidenceImport { skip_bad: true, ..import.clone() };
    match (index.evidence().import(&lenient, &()), strict) {
        (Ok(_), _) => {
            let again = index.evidence().import(&lenient, &()).expect("the same again");
            assert_eq!((again.counts.added, again.counts.updated), (0, 0), "{again:?}");
            // Without a good record there is nothing to remove.
            let taken = index.imports().remove("fuzz", None, &());
            assert!(taken.is_ok() || import.lines.is_empty() || again.counts.unchanged == 0, "{taken:?}");
        }
        (Err(error), Ok(_)) => panic!("refused only where bad records may be skipped: {error}"),
        (Err(error), Err(_)) => assert!(error.to_string().len() < 20_000, "{error}"),
    }
}
