//! The rules of `deny.toml`, and the dependencies that break them.

use anyhow::{Context, Result};
use cargo_metadata::semver::{Version, VersionReq};
use serde::{Deserialize, Deserializer, de::Error};
use spdx::{Expression, ParseMode};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The registry that dependencies come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A crate that the workspace depends on.
#[derive(Debug, Clone)]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// The SPDX expression in its manifest.
    pub licence: Option<String>,
    /// The registry or repository it comes from.
    pub source: Option<String>,
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// The part of cargo-deny's configuration that this module applies.
#[derive(Debug, Deserialize)]
pub struct Policy {
    /// The dependency graph.
    pub graph: Graph,
    /// Licences to accept.
    licenses: Licenses,
    /// Duplicates to accept.
    bans: Bans,
    /// Advisories to accept.
    pub advisories: Advisories,
}

/// The platforms whose dependencies count.
#[derive(Debug, Deserialize)]
pub struct Graph {
    /// Target triples.
    pub targets: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Bans {
    skip: Vec<Skipped>,
}

/// A version that may be there next to another one.
#[derive(Debug, Deserialize)]
struct Skipped {
    #[serde(rename = "crate", deserialize_with = "name_and_versions")]
    package: (String, VersionReq),
}

/// Accepted advisories.
#[derive(Debug, Deserialize)]
pub struct Advisories {
    ignore: Vec<Ignored>,
}

#[derive(Debug, Deserialize)]
struct Ignored {
    id: String,
}

impl Advisories {
    /// Returns true for an advisory that the rules accept.
    pub fn accepts(&self, id: &str) -> bool {
        self.ignore.iter().any(|ignored| ignored.id == id)
    }
}

impl Policy {
    /// Reads the rules.
    ///
    /// # Errors
    /// The file is missing, or a value in it is unusable.
    pub fn read(path: &Path) -> Result<Policy> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{}", path.display()))
    }

    /// Returns one line for each dependency that breaks a rule.
    pub fn faults(&self, dependencies: &[Dependency]) -> Vec<String> {
        let mut faults: Vec<String> =
            dependencies.iter().filter_map(|dependency| self.licence_fault(dependency)).collect();
        faults.extend(dependencies.iter().filter(|dependency| dependency.source.as_deref() != Some(REGISTRY)).map(
            |dependency| {
                let source = dependency.source.as_deref().unwrap_or("a directory");
                format!("{dependency} comes from {source}; only {REGISTRY} is allowed")
            },
        ));
        faults.extend(self.duplicates(dependencies));
        faults
    }

    fn licence_fault(&self, dependency: &Dependency) -> Option<String> {
        let Some(licence) = &dependency.licence else {
            return Some(format!("{dependency}: its manifest names no licence"));
        };
        // Older manifests separate alternatives by a slash.
        let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
            Ok(expression) => expression,
            Err(error) => return Some(format!("{dependency}: licence {licence:?} cannot be read: {}", error.reason)),
        };
        let is_allowed = expression.evaluate(|required| self.licenses.allow.contains(&required.to_string()));
        (!is_allowed).then(|| format!("{dependency}: deny.toml does not allow its licence, {licence}"))
    }

    fn duplicates(&self, dependencies: &[Dependency]) -> Vec<String> {
        let mut versions: BTreeMap<&str, Vec<&Version>> = BTreeMap::new();
        for Dependency { name, version, .. } in dependencies {
            let skips =
                |Skipped { package: (skipped, required) }: &Skipped| skipped == name && required.matches(version);
            if !self.bans.skip.iter().any(skips) {
                versions.entry(name).or_default().push(version);
            }
        }
        let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
        let line = |(name, versions): (&str, Vec<&Version>)| {
            let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
            format!("{name} has versions {}; see `cargo tree --duplicates`", versions.join(", "))
        };
        several.map(line).collect()
    }
}

/// Reads `NAME@VERSION`.
fn name_and_versions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(String, VersionReq), D::Error> {
    let text = String::deserialize(deserializer)?;
    let (name, versions) =
        text.split_once('@').ok_or_else(|| D::Error::custom(format!("{text}: expected NAME@VERSION")))?;
    Ok((name.to_owned(), VersionReq::parse(versions).map_err(D::Error::custom)?))
}
