//! Openings and judgements in files of earlier versions.

use super::contract::labels::opening;
use super::*;

/// A copy of a log that version 3 wrote: two searches, one of them judged.
fn of_version_3() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(FILE), include_bytes!("../../tests/fixtures/usage-3.db")).unwrap();
    directory
}

#[test]
fn a_log_of_version_3_is_upgraded_and_keeps_its_judgements() {
    let directory = of_version_3();
    let old = EmbeddedUsageLog::open(directory.path(), Access::ReadOnly).unwrap();
    let judged = old.judged().unwrap();
    assert_eq!(judged.len(), 1);
    assert_eq!((old.opened(9).unwrap(), old.label_version().unwrap().openings), (vec![], (0, 0)));
    drop(old);
    let log = EmbeddedUsageLog::open(directory.path(), Access::ReadWrite).unwrap();
    assert_eq!(log.judged().unwrap(), judged);
    let passage = judged[0].search.candidates[0].passage.clone();
    assert_eq!(log.record_opened(&opening("one", &[&passage], 0)).unwrap(), 0, "nobody knows what it showed");
}
