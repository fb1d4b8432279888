use super::*;
use cargo_metadata::semver::Version;
use std::fs;

const RULES: &str = r#"
    [graph]
    targets = []
    [licenses]
    allow = ["MIT", "Apache-2.0"]
    [bans]
    skip = [{ crate = "hinge@0.9", reason = "an old friend" }]
    [advisories]
    ignore = [{ id = "RUSTSEC-2026-0003", reason = "the function is not called" }]
"#;

fn policy() -> Policy {
    toml::from_str(RULES).expect("rules")
}

fn dependency(name: &str, version: &str, licence: &str) -> Dependency {
    Dependency {
        name: name.to_owned(),
        version: Version::parse(version).expect("a version"),
        licence: Some(licence.to_owned()).filter(|licence| !licence.is_empty()),
        source: Some("registry+https://github.com/rust-lang/crates.io-index".to_owned()),
    }
}

#[test]
fn licences_are_read_as_expressions() {
    for allowed in ["MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "MIT AND Apache-2.0", "Zlib / MIT"] {
        assert_eq!(policy().faults(&[dependency("mill", "1.0.0", allowed)]), [""; 0], "{allowed}");
    }
    for (refused, named) in
        [("GPL-3.0", "GPL-3.0"), ("MIT AND ISC", "ISC"), ("", "no licence"), ("my own", "cannot be read")]
    {
        let faults = policy().faults(&[dependency("mill", "1.0.0", refused)]);
        assert!(faults.len() == 1 && faults[0].starts_with("mill 1.0.0") && faults[0].contains(named), "{faults:?}");
    }
}

#[test]
fn a_second_version_is_a_fault_unless_the_rules_skip_it() {
    let versions = |versions: [&str; 2]| versions.map(|version| dependency("hinge", version, "MIT"));
    assert_eq!(policy().faults(&versions(["0.9.1", "1.0.0"])), [""; 0]);
    let faults = policy().faults(&versions(["0.8.0", "1.0.0"]));
    assert!(faults.len() == 1 && faults[0].contains("hinge has versions 0.8.0, 1.0.0"), "{faults:?}");
}

#[test]
fn other_sources_are_faults() {
    let from = |source: &str| Dependency { source: Some(source.to_owned()), ..dependency("mill", "1.0.0", "MIT") };
    let faults = policy().faults(&[from("git+https://example.org/mill")]);
    assert!(faults.len() == 1 && faults[0].contains("git+https://example.org/mill"), "{faults:?}");
}

#[test]
fn an_advisory_counts_for_the_versions_that_it_affects() {
    let directory = tempfile::tempdir().expect("a directory");
    let advisory = |id: &str, more: &str| {
        let package = directory.path().join("crates/mill");
        fs::create_dir_all(&package).expect("made");
        let text = format!(
            "```toml\n[advisory]\nid = \"{id}\"\npackage = \"mill\"\n{more}\n\n[versions]\npatched = [\">= 1.2.0\"]\n\
             unaffected = [\"< 1.1.0\"]\n```\n\n# It turns backwards\n"
        );
        fs::write(package.join(format!("{id}.md")), text).expect("written");
    };
    advisory("RUSTSEC-2026-0001", "");
    advisory("RUSTSEC-2026-0002", "informational = \"notice\"");
    advisory("RUSTSEC-2026-0003", "informational = \"unsound\"");
    advisory("RUSTSEC-2026-0004", "withdrawn = \"2026-02-01\"");
    advisory("RUSTSEC-2026-0005", "informational = \"unmaintained\"");
    let database = Database::open(directory.path()).expect("opened");
    assert_eq!(database.len(), 5);
    let faults =
        |version| database.faults(&[dependency("mill", version, "MIT")], &policy()).expect("checked").join(" ");
    assert_eq!(faults("1.0.9"), "");
    assert_eq!(faults("1.2.0"), "");
    let found = faults("1.1.0");
    assert!(
        found.contains("vulnerability RUSTSEC-2026-0001") && found.contains("unmaintained RUSTSEC-2026-0005"),
        "{found}"
    );
    assert!(!["-0002", "-0003", "-0004"].iter().any(|id| found.contains(id)), "{found}");
}

#[test]
fn the_committed_rules_can_be_read() {
    let policy = Policy::read(&root().join("deny.toml")).expect("deny.toml");
    assert!(!policy.graph.targets.is_empty());
}
