//! `cargo xtask site`: the documentation as a site, built with mdBook.

mod links;

use crate::run::{cargo, program, root};
use anyhow::{Context, Result, bail, ensure};
use std::path::PathBuf;
use std::process::{Command, Stdio};

const HELP: &str = "\
Usage: cargo xtask site [--serve | --write]

cargo xtask site           build the site into target/site, and check every link and anchor in it
cargo xtask site --serve   serve it at http://127.0.0.1:3000, and build it again after each change
cargo xtask site --write   write the reference, the plots and the outputs of commands into the pages,
                           and the classes of answers into the Python package

mdBook is installed into target/tools the first time.
";
const VERSION: &str = "0.5.4";

/// Builds the site, serves it, or writes what is generated.
///
/// # Errors
/// The site cannot be built, or a link in it leads nowhere.
pub fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => {
            install()?;
            build()
        }
        ["--serve"] => {
            install()?;
            program(&mdbook().context("mdBook is not installed")?, &["serve", "docs"])
        }
        ["--write"] => write(),
        ["--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => bail!("{}: unknown arguments\n\n{HELP}", arguments.join(" ")),
    }
}

/// Builds the site if mdBook is installed, and says so if it is not.
///
/// # Errors
/// As [`run`].
pub fn build_if_possible() -> Result<()> {
    match mdbook() {
        Some(_) => build(),
        None => {
            println!("site skipped: mdBook {VERSION} is not installed (`cargo xtask site` installs it)");
            Ok(())
        }
    }
}

fn build() -> Result<()> {
    program(&mdbook().context("mdBook is not installed")?, &["build", "docs"])?;
    let site = root().join("target/site");
    let outside = links::unlink_outside(&site, &root().join("docs"))?;
    let checked = links::check(&site)?;
    println!(
        "target/site: {} pages, {} links and anchors lead somewhere, {outside} to files of the source alone became plain text",
        checked.pages, checked.links
    );
    Ok(())
}

/// Has the tests write what they compare.
fn write() -> Result<()> {
    for arguments in [
        &["test", "--package", "tamis-cli", "--test", "documentation"][..],
        &["test", "--package", "tamis-cli", "--lib", "args::reference"],
        &["test", "--package", "tamis-eval", "--lib", "gallery"],
    ] {
        let mut command = Command::new(crate::run::cargo_itself());
        crate::run::as_by_hand(&mut command).args(arguments).current_dir(root());
        // The test of the commands fails when it writes, and says what differed.
        command.env("TAMIS_PAGES_WRITE", "1").status().context("cargo cannot be started")?;
        cargo(arguments)
            .context("the pages still differ from what is generated; what has lines left out (…) is edited by hand")?;
    }
    Ok(())
}

/// The program in `target/tools`, or on the search path, if it has the version.
fn mdbook() -> Option<String> {
    let installed: PathBuf = root().join("target/tools/bin/mdbook");
    let candidates = [installed.to_string_lossy().into_owned(), "mdbook".to_owned()];
    candidates.into_iter().find(|candidate| {
        let output = Command::new(candidate).arg("--version").stderr(Stdio::null()).output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION))
    })
}

fn install() -> Result<()> {
    if mdbook().is_some() {
        return Ok(());
    }
    let tools = root().join("target/tools");
    let tools = tools.to_string_lossy();
    // Without optimisation, it compiles in a third of the time and still builds this site in three seconds.
    let how = ["--locked", "--debug", "--no-default-features", "--features", "search,serve,watch", "--root", &tools];
    let arguments = [&["install", "mdbook", "--version", VERSION][..], &how].concat();
    cargo(&arguments)?;
    ensure!(mdbook().is_some(), "mdBook was installed, but does not say that it is version {VERSION}");
    Ok(())
}
