//! The facts of a build.

use super::table::Columns;
use crate::page::Page;
use owo_colors::OwoColorize;
use serde::Serialize;
use std::io;
use tamis_embed::{BUILT_IN_MODELS, BuiltInModel};

/// The facts of a build.
#[derive(Debug, Serialize)]
pub struct Version {
    /// The version of the program and of its crates.
    pub version: &'static str,
    /// The commit that was built; `None` where the build did not know it.
    pub commit: Option<&'static str>,
    /// The target triple that it was built for.
    pub target: &'static str,
    /// The optional features, sorted.
    pub features: Vec<&'static str>,
    /// The models in the program.
    pub models: &'static [BuiltInModel],
}

impl Version {
    /// The facts of this program.
    pub fn of_this_build() -> Self {
        Version {
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("BUILD_COMMIT"),
            target: env!("BUILD_TARGET"),
            features: tamis::features(),
            models: BUILT_IN_MODELS,
        }
    }
}

/// Writes the facts of a build.
///
/// # Errors
/// `out` cannot be written.
pub fn version(out: &mut dyn Page, version: &Version) -> io::Result<()> {
    writeln!(out, "{}", format_args!("tamis {}", version.version).bold())?;
    writeln!(out, "  commit    {}", version.commit.unwrap_or("not recorded in this build"))?;
    writeln!(out, "  target    {}", version.target)?;
    writeln!(out, "  features  {}", version.features.join(", "))?;
    let mut table = Columns::new(&["model", ">dimensions", "licence"]);
    for model in version.models {
        table.row([model.id.to_owned(), model.dimension.to_string(), model.license.to_owned()]);
    }
    writeln!(out)?;
    table.write(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;

    #[test]
    fn a_build_without_a_commit_says_so() {
        let build = Version { commit: None, features: vec!["grammars", "wiki"], ..Version::of_this_build() };
        let text = plain(|out| version(out, &build));
        assert!(text.contains("  commit    not recorded in this build\n"), "{text}");
        assert!(text.contains("  features  grammars, wiki\n"), "{text}");
        let commit = "0123456789012345678901234567890123456789";
        let text = plain(|out| version(out, &Version { commit: Some(commit), ..build }));
        assert!(text.contains(&format!("  commit    {commit}\n")), "{text}");
    }
}
