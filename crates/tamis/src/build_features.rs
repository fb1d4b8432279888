//! The optional parts of the library that a build has.

/// The name of each optional feature, and whether this build has it.
const FEATURES: [(&str, bool); 8] = [
    ("clients", cfg!(feature = "clients")),
    ("documents", cfg!(feature = "documents")),
    ("evidence", cfg!(feature = "evidence")),
    ("grammars", cfg!(feature = "grammars")),
    ("hub", cfg!(feature = "hub")),
    ("minilm", cfg!(feature = "minilm")),
    ("postgres", cfg!(feature = "postgres")),
    ("wiki", cfg!(feature = "wiki")),
];

/// Returns the names of the features that this build has, sorted. They are those of the crate's `Cargo.toml`, without `clap`, which
/// only describes requests.
#[must_use]
pub fn features() -> Vec<&'static str> {
    FEATURES.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_the_manifest_is_listed() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let manifest: toml::Table =
            std::fs::read_to_string(manifest).expect("the manifest").parse().expect("a TOML document");
        let declared = manifest["features"]
            .as_table()
            .expect("a table")
            .keys()
            .filter(|name| !["clap", "default"].contains(&name.as_str()));
        let mut declared: Vec<&str> = declared.map(String::as_str).collect();
        declared.sort_unstable();
        assert_eq!(FEATURES.map(|(name, _)| name).as_slice(), declared);
    }
}
