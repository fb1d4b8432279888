//! What part a file plays in its project, told from its path.

use crate::names::named;

named! {
    /// What part a file or passage plays. Ranking may prefer one over another; nothing is left out because of it.
    Role is a "role" {
        /// What the project is made of.
        Main = "main",
        /// Tests, fixtures and benchmarks.
        Test = "test",
        /// Examples, demonstrations and tutorials in code.
        Example = "example",
        /// Copies of other projects and build output.
        Vendored = "vendored",
        /// Lists of past changes.
        Changelog = "changelog",
        /// Licences and notices.
        License = "license",
        /// Written by a program.
        Generated = "generated",
    }
}

const TEST_DIRECTORIES: &[&str] = &[
    "test",
    "tests",
    "testing",
    "testdata",
    "test_data",
    "test-data",
    "__tests__",
    "__test__",
    "__mocks__",
    "__snapshots__",
    "spec",
    "specs",
    "e2e",
    "fixtures",
    "fixture",
    "testutil",
    "testutils",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "unittests",
    "integrationtest",
    "integration-tests",
    "androidtest",
    "cypress",
];
const EXAMPLE_DIRECTORIES: &[&str] =
    &["example", "examples", "sample", "samples", "demo", "demos", "_examples", "showcase", "playground"];
const VENDORED_DIRECTORIES: &[&str] = &[
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "3rdparty",
    "node_modules",
    "bower_components",
    "external",
    "externals",
    "deps",
    "dist",
    "site-packages",
    ".venv",
    "venv",
    "pods",
    "carthage",
    ".yarn",
    "godeps",
    "_vendor",
];

/// The role that `path` (relative, with forward slashes) tells, for a file in `language`.
///
/// A vendored test is vendored. Only directories below the indexed root count, so a checkout inside a directory
/// called `tests` is not all tests.
///
/// ```
/// use tamis_text::{Role, role};
/// assert_eq!(role("src/store.rs", Some("rust")), Role::Main);
/// assert_eq!(role("pkg/store_test.go", Some("go")), Role::Test);
/// assert_eq!(role("vendor/lib/CHANGELOG.md", Some("markdown")), Role::Vendored);
/// ```
#[must_use]
pub fn role(path: &str, language: Option<&str>) -> Role {
    let lower = path.to_ascii_lowercase();
    let (directories, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let under = |names: &[&str]| directories.split('/').any(|directory| names.contains(&directory));
    if under(VENDORED_DIRECTORIES) {
        return Role::Vendored;
    }
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    if is_text(name) && is_changelog(stem) {
        return Role::Changelog;
    }
    if is_text(name) && is_license(stem) {
        return Role::License;
    }
    // Written specifications live in `spec` directories as often as tests do.
    let prose = matches!(language, Some("markdown" | "restructuredtext" | "asciidoc" | "org" | "text" | "latex"));
    if is_test_name(path, name, stem, language) || (!prose && under(TEST_DIRECTORIES)) {
        return Role::Test;
    }
    if under(EXAMPLE_DIRECTORIES) {
        return Role::Example;
    }
    Role::Main
}

fn is_text(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, None | Some("md" | "markdown" | "rst" | "txt" | "adoc" | "org"))
}

fn is_changelog(stem: &str) -> bool {
    matches!(
        stem,
        "changelog"
            | "changelogs"
            | "changes"
            | "history"
            | "news"
            | "releases"
            | "release-notes"
            | "release_notes"
            | "relnotes"
            | "whatsnew"
    )
}

fn is_license(stem: &str) -> bool {
    ["license", "licence", "copying", "unlicense"]
        .iter()
        .any(|name| stem.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_'])))
        || matches!(stem, "notice" | "copyright" | "patents")
}

fn is_test_name(path: &str, name: &str, stem: &str, language: Option<&str>) -> bool {
    if ["spec", "test", "e2e", "bench"]
        .iter()
        .any(|part| name.split('.').rev().skip(1).any(|piece| piece == *part) && stem != *part)
    {
        return true;
    }
    match language {
        Some("python") => stem.starts_with("test_") || stem.ends_with("_test") || stem == "conftest",
        Some("go" | "cpp" | "c" | "dart" | "elixir") => stem.ends_with("_test") || stem.ends_with("_unittest"),
        Some("rust") => stem == "tests" || stem == "test" || stem.ends_with("_tests") || stem.ends_with("_test"),
        Some("ruby") => stem.ends_with("_spec") || stem.ends_with("_test"),
        Some("java" | "kotlin" | "scala" | "csharp" | "php" | "swift" | "groovy") => {
            // Case tells `ContestTest` from `Contest`.
            let original = path.rsplit('/').next().unwrap_or(path);
            let stem = original.split('.').next().unwrap_or(original);
            ["Test", "Tests", "TestCase", "IT", "Spec"].iter().any(|end| stem.ends_with(end)) && stem.len() > 4
                || stem.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_roles_from_paths() {
        let cases = [
            ("src/lib.rs", "rust", Role::Main),
            ("src/contest.rs", "rust", Role::Main),
            ("src/store/tests.rs", "rust", Role::Test),
            ("tests/cli.rs", "rust", Role::Test),
            ("benches/scan.rs", "rust", Role::Test),
            ("examples/throughput.rs", "rust", Role::Example),
            ("app/test_views.py", "python", Role::Test),
            ("app/latest_views.py", "python", Role::Main),
            ("conftest.py", "python", Role::Test),
            ("pkg/open_test.go", "go", Role::Test),
            ("src/open.spec.ts", "typescript", Role::Test),
            ("src/__tests__/open.ts", "typescript", Role::Test),
            ("src/test/java/org/Open.java", "java", Role::Test),
            ("org/OpenTest.java", "java", Role::Test),
            ("org/Contest.java", "java", Role::Main),
            ("docs/spec/protocol.md", "markdown", Role::Main),
            ("docs/testing.md", "markdown", Role::Main),
            ("CHANGELOG.md", "markdown", Role::Changelog),
            ("docs/history.rst", "restructuredtext", Role::Changelog),
            ("src/history.rs", "rust", Role::Main),
            ("src/changes.py", "python", Role::Main),
            ("LICENSE-MIT", "text", Role::License),
            ("src/license_check.py", "python", Role::Main),
            ("third_party/zlib/test/a.c", "c", Role::Vendored),
            ("web/node_modules/x/index.js", "javascript", Role::Vendored),
        ];
        for (path, language, expected) in cases {
            assert_eq!(role(path, Some(language)), expected, "{path}");
        }
    }
}
