//! `cargo xtask python`: builds the Python package and tests it as a user has it.
//!
//! The wheel is built from the checkout, installed into a new virtual environment without anything else of the checkout, and tested
//! there by pytest, beside the packages that the tests compare it with.

use crate::run::{as_by_hand, root, target};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const USAGE: &str = "\
cargo xtask python             build the wheel, install it alone into a new environment, and run its tests
cargo xtask python --release   the same with an optimised build, and print the wheel's size
";

/// The program that builds the wheel.
const BUILDER: &str = "maturin>=1.9.4,<2";

/// The packages that the tests need or compare with. Each has wheels, so nothing is compiled.
/// LanceDB and Chroma are left out for their size: the tests with them say how to run them.
const TESTED_WITH: [&str; 14] = [
    "pytest", "numpy", "pandas", "polars", "pytrec-eval-terrier", "mypy", "pyright[nodejs]", "bm25s", "langchain-core",
    "llama-index-core", "haystack-ai", "rerankers", "qdrant-client", "elastic-transport",
];

/// Builds and tests the package, also with an index in `database`, the URL of one for tests.
///
/// # Errors
/// python3 or its venv is missing, the package index cannot be reached, the build fails, or a test does.
pub fn run(arguments: &[String], database: Option<&str>) -> Result<()> {
    let release = match arguments {
        [] => false,
        [flag] if flag == "--release" => true,
        _ => bail!("{USAGE}"),
    };
    let directory = tempfile::tempdir()?;
    let tools = Environment::make(&directory.path().join("tools"))?;
    tools.install(&[BUILDER])?;
    let wheels = directory.path().join("wheels");
    build(&tools, &wheels, release)?;
    let wheel = only_file(&wheels)?;
    if release {
        println!("{:>9.1} MB  {}", fs::metadata(&wheel)?.len() as f64 / 1e6, file_name(&wheel));
    }

    // The wheel comes alone first: it must work without any other package.
    let environment = Environment::make(&directory.path().join("environment"))?;
    environment.install(&["--no-index", &wheel.to_string_lossy()])?;
    let works = "import tamis; assert tamis.cut([3.0, 2.9, 0.1]).count == 2";
    environment.python(directory.path(), None, &["-c", works])?;
    environment.install(&TESTED_WITH)?;
    // The tests run beside the checkout, in which Python would find the sources of the package before the wheel.
    let tests = directory.path().join("tests");
    copy_files(&root().join("crates/python/tests"), &tests)?;
    environment.python(&tests, database, &["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "--durations=3", "."])
}

/// Returns the reason that the package cannot be built here, if there is one.
pub fn obstacle() -> Option<String> {
    let mut command = Command::new("python3");
    let output = command.args(["-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"]).output();
    let output = match output {
        Err(error) => return Some(format!("python3 cannot be started: {error}")),
        Ok(output) if !output.status.success() => return Some("python3 has no venv with pip".to_owned()),
        Ok(output) => output,
    };
    let version = String::from_utf8_lossy(&output.stdout);
    let mut parts = version.split_whitespace().filter_map(|part| part.parse::<u32>().ok());
    if (parts.next().unwrap_or_default(), parts.next().unwrap_or_default()) < (3, 10) {
        return Some(format!("python3 is {}: must be 3.10 or newer", version.trim().replace(' ', ".")));
    }
    let mut reach = Command::new("python3");
    reach.args(["-m", "pip", "download", "--quiet", "--no-deps", "--timeout", "15", "--retries", "1", "--dest"]);
    let directory = tempfile::tempdir().ok()?;
    let reached = reach.arg(directory.path()).arg(BUILDER).stderr(Stdio::null()).stdout(Stdio::null()).status();
    match reached {
        Ok(status) if status.success() => None,
        _ => Some("the package index of Python cannot be reached".to_owned()),
    }
}

/// A virtual environment.
struct Environment {
    directory: PathBuf,
}

impl Environment {
    fn make(directory: &Path) -> Result<Environment> {
        let status = Command::new("python3").args(["-m", "venv"]).arg(directory).status();
        ensure!(status.context("python3 cannot be started")?.success(), "python3 -m venv failed");
        Ok(Environment { directory: directory.to_owned() })
    }

    fn program(&self, name: &str) -> PathBuf {
        let (programs, suffix) = if cfg!(windows) { ("Scripts", ".exe") } else { ("bin", "") };
        self.directory.join(programs).join(format!("{name}{suffix}"))
    }

    fn install(&self, packages: &[&str]) -> Result<()> {
        eprintln!("$ python -m pip install {}", packages.join(" "));
        let mut command = Command::new(self.program("python"));
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        ensure!(command.status()?.success(), "pip install {} failed", packages.join(" "));
        Ok(())
    }

    fn python(&self, working_directory: &Path, database: Option<&str>, arguments: &[&str]) -> Result<()> {
        eprintln!("$ python {}", arguments.join(" "));
        let mut command = Command::new(self.program("python"));
        // Neither the user's packages nor those of a surrounding environment count.
        command.args(arguments).current_dir(working_directory).env_remove("PYTHONPATH").env("PYTHONNOUSERSITE", "1");
        command.env("TEST_CHECKOUT", root());
        command.envs(database.map(|url| ("TEST_POSTGRES_URL", url)));
        ensure!(command.status()?.success(), "python {} failed", arguments.join(" "));
        Ok(())
    }
}

/// Builds the wheel into a directory. For tests, the build shares the target directory, and by its features the libraries, of the
/// workspace's tests.
fn build(tools: &Environment, wheels: &Path, release: bool) -> Result<()> {
    let mut command = Command::new(tools.program("maturin"));
    as_by_hand(&mut command);
    command.args(["build", "--quiet", "--locked", "--out"]).arg(wheels).arg("--target-dir").arg(target());
    command.arg("--interpreter").arg(tools.program("python"));
    if release {
        command.arg("--release");
    } else {
        command.args(["--features", "as-tested"]);
    }
    command.arg("--manifest-path").arg(root().join("crates/python/Cargo.toml"));
    eprintln!("$ maturin build{}", if release { " --release" } else { "" });
    ensure!(command.status().context("maturin cannot be started")?.success(), "maturin build failed");
    Ok(())
}

fn only_file(directory: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    match <[PathBuf; 1]>::try_from(files) {
        Ok([file]) => Ok(file),
        Err(files) => bail!("{}: expected one wheel and found {}", directory.display(), files.len()),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn copy_files(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
