//! Lines of a request: the query, then a date, a path glob, a symbol, a language, an author and another phrasing. Any
//! of them may be missing. The first byte of the query's line chooses the retrievers.
//!
//! A query that passes the check is answered; bad values in other lines are refused with a message.

use std::sync::LazyLock;
use tamis::config::Config;
use tamis::search::MetadataFilter;
use tamis::{Index, Location, Mode, SearchRequest, dates};

struct Library {
    index: Index,
    _directory: tempfile::TempDir,
}

static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in [
        ("oven.md", "# Oven\n\nHeat the oven to 220 degrees before baking.\n"),
        ("tides.md", "# Tides\n\nThe moon raises two tides a day.\n"),
        ("retry.rs", "/// Tries again.\npub fn with_backoff(tries: u32) -> bool {\n    tries > 0\n}\n"),
    ] {
        std::fs::write(directory.path().join(name), text).expect("written");
    }
    let mut config = Config::built_in();
    config.index.models = vec!["static".into()];
    let index = Index::at(Location::at(directory.path(), None), config).expect("an index");
    index.refresh().expect("indexed");
    Library { index, _directory: directory }
});

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let query = lines.next().unwrap_or_default();
    let mode = [Mode::Hybrid, Mode::Lexical, Mode::Semantic][query.len() % 3];
    let mut request = SearchRequest::new(query).mode(mode);
    let index = &LIBRARY.index;
    let answer = index.search(&request);
    match request.check() {
        Ok(()) => drop(answer.unwrap_or_else(|error| panic!("{query:?} by {mode}: {error}"))),
        Err(_) => assert!(answer.is_err(), "{query:?} is refused by the check and answered"),
    }

    let now = "2026-11-22T12:00:00+01:00[Europe/Berlin]".parse().expect("a time");
    let said = |line: Option<&str>| line.filter(|line| !line.is_empty()).map(str::to_owned);
    let since = said(lines.next()).and_then(|line| dates::moment(&line, &now).ok());
    request.filters.paths.extend(said(lines.next()));
    request.filters.symbols.extend(said(lines.next()));
    request.filters.languages.extend(said(lines.next()));
    let authors = said(lines.next()).into_iter().collect();
    request.filters.metadata = MetadataFilter { since, authors, ..MetadataFilter::default() };
    request.ranking.from = said(lines.next());
    if let Err(error) = index.search(&request) {
        assert!(!error.to_string().is_empty());
    }
}
