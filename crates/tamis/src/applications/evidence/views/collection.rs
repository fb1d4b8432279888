//! All views: the built-in ones and the user's own.

use super::header::is_name;
use super::template::Template;
use crate::file::foreign::read_regular;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of the user's own views, in the user's configuration directory.
const DIRECTORY: &str = "views";

/// The ending of a view's file name.
const SUFFIX: &str = ".sql.j2";

/// The largest file read, in bytes.
const LONGEST: u64 = 64 * 1024;

macro_rules! built_in {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("templates/", $name, ".sql.j2")))),*]
    };
}

/// The built-in views: name and file.
pub(super) const BUILT_IN: &[(&str, &str)] = &built_in![
    "v_contradictions"
    "v_claim_evidence_summary"
    "v_unsupported_claims"
    "v_claim_origins"
    "v_evidence_chain"
    "v_citation_flow"
    "v_citation_chains"
    "v_bibliographic_coupling"
    "v_orphan_sources"
    "v_citation_age_gap"
    "v_evidence_timeline"
    "v_evidence_freshness"
    "v_emerging_consensus"
    "v_outdated_evidence"
    "v_source_authority"
    "v_source_impact"
    "v_reference_candidates"
];

/// A view by name, usable or not.
pub(super) struct Found {
    pub name: String,
    /// The user's file; `None` for a built-in view.
    pub file: Option<PathBuf>,
    /// The template, or the reason why the view is unusable.
    pub template: Result<Template, String>,
}

/// All views: the built-in ones, then the user's own by name. An unusable one does not affect the others.
pub(super) fn all(user_directory: Option<&Path>) -> Vec<Found> {
    let built_in = BUILT_IN.iter().map(|(name, source)| Found {
        name: (*name).to_owned(),
        file: None,
        template: Template::load(name, source),
    });
    built_in.chain(user_directory.into_iter().flat_map(own)).collect()
}

fn own(user_directory: &Path) -> Vec<Found> {
    let Ok(entries) = fs::read_dir(user_directory.join(DIRECTORY)) else { return Vec::new() };
    let found = entries.filter_map(|entry| {
        let file = entry.ok()?.path();
        let name = file.file_name()?.to_string_lossy().strip_suffix(SUFFIX)?.to_owned();
        Some(Found { template: read(&name, &file), name, file: Some(file) })
    });
    let mut found: Vec<Found> = found.collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn read(name: &str, file: &Path) -> Result<Template, String> {
    let shown = file.display();
    if BUILT_IN.iter().any(|(built_in, _)| *built_in == name) {
        return Err(format!("{shown}: {name} is built in; give this view another name"));
    }
    if !is_name(name) {
        return Err(format!("{shown}: the name of a view is letters, digits and underscores"));
    }
    let bytes = read_regular(file, LONGEST).map_err(|error| format!("{shown}: cannot be read: {error}"))?;
    let source = String::from_utf8(bytes).map_err(|_| format!("{shown}: cannot be read: not UTF-8"))?;
    Template::load(&shown.to_string(), &source)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIT: &str = "{# answers = \"how many claims?\" #}\nSELECT count(*) FROM claims";

    #[test]
    fn every_built_in_view_is_fit_for_use() {
        let views = all(None);
        for view in views {
            let template = view.template.unwrap_or_else(|error| panic!("{error}"));
            assert!(template.header.answers.ends_with(['?', '.']), "{}", view.name);
        }
    }

    #[test]
    fn one_of_the_users_that_is_not_fit_keeps_no_other_from_being_used() {
        let user = tempfile::tempdir().expect("a directory");
        let directory = user.path().join(DIRECTORY);
        fs::create_dir(&directory).expect("made");
        let write = |name: &str, text: &[u8]| fs::write(directory.join(name), text).expect("written");
        write("counted.sql.j2", FIT.as_bytes());
        write("spliced.sql.j2", b"{# answers = \"x\" #}\nSELECT {{ 1 }}");
        write("bytes.sql.j2", b"{# answers = \"\xff\" #}");
        write("v_contradictions.sql.j2", FIT.as_bytes());
        write("odd-name.sql.j2", FIT.as_bytes());
        write("long.sql.j2", &vec![b' '; 70_000]);
        write("notes.txt", b"no view");
        fs::create_dir(directory.join("directory.sql.j2")).expect("made");
        #[cfg(unix)]
        std::os::unix::fs::symlink("/dev/zero", directory.join("endless.sql.j2")).expect("linked");
        let views = all(Some(user.path()));
        let own: Vec<(&str, bool)> =
            views[BUILT_IN.len()..].iter().map(|view| (view.name.as_str(), view.template.is_ok())).collect();
        let expected = [
            ("bytes", false),
            ("counted", true),
            ("directory", false),
            #[cfg(unix)]
            ("endless", false),
            ("long", false),
            ("odd-name", false),
            ("spliced", false),
            ("v_contradictions", false),
        ];
        assert_eq!(own, expected);
        let error = |name: &str| {
            let view = views[BUILT_IN.len()..].iter().find(|view| view.name == name).expect("listed");
            view.template.clone().expect_err("not fit")
        };
        assert!(error("spliced").contains("spliced.sql.j2: line 2: "), "{}", error("spliced"));
        assert!(error("v_contradictions").ends_with("give this view another name"));
        assert!(views[0].template.is_ok() && views[0].name == "v_contradictions", "the built-in one stands");
        assert!(all(Some(&user.path().join("nowhere"))).len() == BUILT_IN.len());
    }
}
