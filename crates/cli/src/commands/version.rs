//! `tamis version` and `tamis schema`: what programs, installers and reports of problems need to know of this build.

use crate::exit::Exit;
use crate::layout::Page;
use crate::output::Output;
use crate::print::table::Columns;
use anyhow::Result;
use clap::{Args, ValueEnum};
use owo_colors::OwoColorize;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use std::io::{self, Write};
use tamis::Answer;
use tamis_embed::{BUILT_IN_MODELS, BuiltInModel};

/// Flags of `tamis version`.
#[derive(Debug, Args)]
pub struct VersionArguments {
    /// Print the version as JSON
    #[arg(long)]
    pub json: bool,
}

/// A schema that the program prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// The answer of `tamis search --json`.
    Answer,
    /// The API of `tamis serve`.
    Openapi,
}

/// Prints the version, the commit, the target, the features and the built-in models.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(arguments: &VersionArguments, output: &Output) -> Result<Exit> {
    let this = Version::of_this_build();
    output.answer(arguments.json, &this, output.styled(), |out| print(out, &this))?;
    Ok(Exit::Found)
}

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
fn print(out: &mut dyn Page, version: &Version) -> io::Result<()> {
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

/// Prints the JSON Schema of the answer, or the OpenAPI document.
///
/// # Errors
/// Standard output cannot be written.
pub fn schema(name: SchemaName, output: &Output) -> Result<Exit> {
    let mut out = output.plain();
    match name {
        // The schema describes what is written: a field that is always there is required, even if it can be null.
        SchemaName::Answer => {
            let settings = SchemaSettings::draft2020_12().for_serialize();
            serde_json::to_writer_pretty(&mut out, &settings.into_generator().into_root_schema_for::<Answer>())?;
        }
        SchemaName::Openapi => serde_json::to_writer_pretty(&mut out, &tamis_server::openapi())?,
    }
    writeln!(out)?;
    out.flush()?;
    Ok(Exit::Found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;

    #[test]
    fn a_build_without_a_commit_says_so() {
        let build = Version { commit: None, features: vec!["grammars", "wiki"], ..Version::of_this_build() };
        let text = plain(|out| print(out, &build));
        assert!(text.contains("  commit    not recorded in this build\n"), "{text}");
        assert!(text.contains("  features  grammars, wiki\n"), "{text}");
        let commit = "0123456789012345678901234567890123456789";
        let text = plain(|out| print(out, &Version { commit: Some(commit), ..build }));
        assert!(text.contains(&format!("  commit    {commit}\n")), "{text}");
    }
}
