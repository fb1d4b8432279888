//! A database that the version before has written, migrated by this one.

use crate::database::TestDatabase;
use crate::{done, json_of, tamis, tree};
use serde_json::json;

const VERSION_8: &str = include_str!("../fixtures/postgres_version_8.sql");

#[test]
fn tables_of_the_version_before_are_migrated_with_their_content() {
    let Some(database) = TestDatabase::from_dump(VERSION_8) else { return };
    let (directory, url) = (tree(), database.url());
    let tamis = |words: &[&str]| {
        let mut command = tamis(directory.path(), Some(&url));
        command.args(words);
        command
    };
    let migrated = done(&mut tamis(&["store", "migrate"]));
    assert!(migrated.contains("migrated from version 8 to 9"), "{migrated}");
    let status = json_of(&mut tamis(&["store", "status", "--json"]));
    assert_eq!(status["row_security"], true, "{status}");
    let mill = &status["namespaces"][0];
    assert_eq!((&mill["documents"], &mill["passages"]), (&json!(14), &json!(20)), "{status}");
    // Before a search records anything.
    let judged = json_of(&mut tamis(&["tune", "stats", "--json"]))["judgements"].clone();
    assert_eq!((&judged["relevant"], &judged["not_relevant"]), (&json!(1), &json!(1)), "{judged}");
    let counts = "SELECT (SELECT count(*) FROM claims), (SELECT count(*) FROM edges), (SELECT count(*) FROM works)";
    let counted = json_of(&mut tamis(&["evidence", "sql", "--json", "--namespace", "mill", counts]));
    assert_eq!(counted["rows"], json!([[4, 8, 3]]), "{counted}");
    for (query, path) in [
        ("when is a failed job tried again", "src/retry.rs"),
        ("what time does the night shift start the mill", "memory/2026-11-28.md"),
        ("queue stands still after the mail service was down", "issue:12"),
    ] {
        let found = json_of(&mut tamis(&["search", "--json", "--no-refresh", "--namespace", "mill", query]));
        assert_eq!(found["results"][0]["path"], path, "{found}");
    }
}
