//! The packages that are made from the archives: Debian, npm, Homebrew and the installer script.

use super::archive::LICENCES;
use super::checksums::sha256;
use super::project::Project;
use super::target::{TARGETS, Target};
use super::template::fill;
use super::tools::{DEB, quietly};
use anyhow::{Context, Result, ensure};
use flate2::{Compression, GzBuilder};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A target with its unpacked archive.
#[derive(Debug)]
pub struct Unpacked {
    /// The target.
    pub target: &'static Target,
    /// The directory with the program.
    pub directory: PathBuf,
    /// The archive.
    pub archive: PathBuf,
}

/// Makes the Debian package. Its metadata is in `crates/cli/Cargo.toml`.
///
/// # Errors
/// cargo-deb fails.
pub fn debian(project: &Project, from: &Unpacked) -> Result<PathBuf> {
    // cargo-deb takes what `cargo build` left in a target directory; this one holds the files of the archive.
    let target_directory = project.empty_work("deb")?;
    let release = target_directory.join(from.target.triple).join("release");
    fs::create_dir_all(release.join("dist"))?;
    fs::copy(from.directory.join("tamis"), release.join("tamis"))?;
    ensure!(
        from.directory.join(LICENCES).is_file(),
        "the Debian package needs {LICENCES}; leave out --skip licences once"
    );
    fs::copy(from.directory.join(LICENCES), release.join("dist").join(LICENCES))?;
    copy_folder(&from.directory.join("completions"), &release.join("dist/completions"), |bytes| Ok(("", bytes)))?;
    // As Debian keeps them.
    copy_folder(&from.directory.join("man"), &release.join("dist/man"), |bytes| Ok((".gz", compressed(&bytes)?)))?;
    let mut command = DEB.command(project)?;
    command.args([
        "--no-build",
        "--no-strip",
        "--locked",
        "--offline",
        "--quiet",
        "--package",
        "tamis-cli",
        "--target",
    ]);
    command.arg(from.target.triple).arg("--output").arg(project.out());
    command.env("CARGO_TARGET_DIR", &target_directory).env("SOURCE_DATE_EPOCH", project.time.to_string());
    quietly(&mut command)?;
    debian_in_out(project, from.target)?.context("cargo-deb made no package")
}

/// Returns the Debian package of a target that is among the finished files. Its dependencies are those of the machine that made it, so
/// another machine must not make it again.
///
/// # Errors
/// The directory cannot be read.
pub fn debian_in_out(project: &Project, target: &Target) -> Result<Option<PathBuf>> {
    let (start, end) = (format!("tamis_{}-", project.version), format!("_{}.deb", architecture(target)));
    for entry in fs::read_dir(project.out())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&start) && name.ends_with(&end) {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}

/// Returns Debian's name of the processor.
fn architecture(target: &Target) -> &'static str {
    if target.triple.starts_with("aarch64") { "arm64" } else { "amd64" }
}

/// Copies the files of a folder. `change` returns the ending that a name gets, and the new content.
fn copy_folder(from: &Path, to: &Path, change: impl Fn(Vec<u8>) -> Result<(&'static str, Vec<u8>)>) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (ending, bytes) = change(fs::read(entry.path())?)?;
        let mut name = entry.file_name();
        name.push(ending);
        fs::write(to.join(name), bytes)?;
    }
    Ok(())
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut writer = GzBuilder::new().write(Vec::new(), Compression::best());
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// Makes the npm packages, the one with the command last. It depends on the others, of which npm installs those that fit.
///
/// # Errors
/// npm fails.
pub fn npm(project: &Project, from: &[Unpacked]) -> Result<Vec<PathBuf>> {
    let work = project.empty_work("npm")?;
    let mut packed = Vec::new();
    for one in from {
        let directory = work.join(one.target.npm_package());
        fs::create_dir_all(directory.join("bin"))?;
        for (file, to) in
            [(one.target.program(), format!("bin/{}", one.target.program())), (LICENCES, LICENCES.to_owned())]
        {
            if one.directory.join(file).is_file() {
                fs::copy(one.directory.join(file), directory.join(to))?;
            }
        }
        packed.push(npm_pack(project, &directory, &platform_manifest(project, one.target)?)?);
    }
    let directory = work.join("tamis");
    fs::create_dir_all(directory.join("bin"))?;
    fs::copy(project.root.join("packaging/npm/tamis.js"), directory.join("bin/tamis.js"))?;
    let targets: Vec<&Target> = from.iter().map(|one| one.target).collect();
    packed.push(npm_pack(project, &directory, &command_manifest(project, &targets)?)?);
    Ok(packed)
}

/// Returns the manifest of the package with the command.
fn command_manifest(project: &Project, targets: &[&Target]) -> Result<Value> {
    let mut manifest: Value = serde_json::from_str(&fill("npm/package.json", project, &[])?)?;
    let dependency = |target: &&Target| (target.npm_package(), Value::from(project.version.as_str()));
    manifest["optionalDependencies"] = Value::Object(targets.iter().map(dependency).collect());
    Ok(manifest)
}

/// Returns the manifest of the package with the program for a target.
fn platform_manifest(project: &Project, target: &Target) -> Result<Value> {
    let name = target.npm_package();
    let text = fill("npm/platform.json", project, &[("NAME", &name), ("TARGET", target.triple)])?;
    let mut manifest: Map<String, Value> = serde_json::from_str(&text)?;
    manifest.insert("os".into(), vec![target.npm.os].into());
    manifest.insert("cpu".into(), vec![target.npm.cpu].into());
    // The static program of the package for musl runs with every C library, and npm takes both where it ignores this key.
    if let Some(libc) = target.npm.libc {
        manifest.insert("libc".into(), vec![libc].into());
    }
    Ok(manifest.into())
}

fn npm_pack(project: &Project, directory: &Path, manifest: &Value) -> Result<PathBuf> {
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(project.root.join(licence), directory.join(licence))?;
    }
    fs::write(directory.join("package.json"), format!("{manifest:#}\n"))?;
    let mut command = Command::new("npm");
    command.args(["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination"]).arg(project.out());
    let out = quietly(command.current_dir(directory))?;
    Ok(project.out().join(out.lines().last().unwrap_or_default().trim()))
}

/// Writes the Homebrew formula.
///
/// # Errors
/// An archive cannot be read, or the formula cannot be written.
pub fn homebrew(project: &Project, from: &[Unpacked]) -> Result<PathBuf> {
    let mut sums = Vec::new();
    for one in from.iter().filter(|one| one.target.homebrew.is_some()) {
        sums.push((one.target, sha256(&one.archive)?));
    }
    let path = project.out().join("tamis.rb");
    fs::write(&path, formula(project, &sums)?).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(path)
}

/// Returns the text of the formula for these archives with their checksums.
fn formula(project: &Project, sums: &[(&Target, String)]) -> Result<String> {
    let mut blocks = String::new();
    for system in ["on_macos", "on_linux"] {
        let of_system = sums.iter().filter(|(target, _)| target.homebrew.is_some_and(|(there, _)| there == system));
        let mut inner = String::new();
        for (target, sum) in of_system {
            let cpu = target.homebrew.map_or("", |(_, cpu)| cpu);
            let (repository, version) = (&project.repository, &project.version);
            let archive = target.archive(version);
            // Writing to a string cannot fail.
            let _ = write!(
                inner,
                "    {cpu} do\n      url \"{repository}/releases/download/v{version}/{archive}.tar.gz\"\n      sha256 \"{sum}\"\n    end\n"
            );
        }
        if !inner.is_empty() {
            let _ = write!(blocks, "\n  {system} do\n{inner}  end\n");
        }
    }
    fill("homebrew/tamis.rb", project, &[("ARCHIVES", &blocks)])
}

/// Writes the installer script.
///
/// # Errors
/// It cannot be written.
pub fn installer(project: &Project) -> Result<PathBuf> {
    let path = project.out().join("install.sh");
    fs::write(&path, fill("install.sh", project, &[])?)?;
    Ok(path)
}

/// Returns the archives that are in the directory of the finished files, unpacked.
///
/// # Errors
/// There is none, or one cannot be unpacked.
pub fn collected(project: &Project) -> Result<Vec<Unpacked>> {
    let work = project.empty_work("archive")?;
    let mut found = Vec::new();
    for target in &TARGETS {
        let name = target.archive(&project.version);
        let archive = project.out().join(format!("{name}.tar.gz"));
        if archive.is_file() {
            super::archive::unpack(&archive, &work)?;
            found.push(Unpacked { target, directory: work.join(name), archive });
        }
    }
    ensure!(!found.is_empty(), "{} holds no archive of version {}", project.out().display(), project.version);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::options::Options;
    use super::super::target::named;
    use super::*;

    fn project() -> Project {
        let options = Options { repository: Some("https://example.org/tamis".into()), ..Options::default() };
        Project::read(&options).expect("a checkout")
    }

    #[test]
    fn the_formula_has_a_block_for_each_archive_and_no_other() {
        let project = Project { version: "1.2.3".into(), ..project() };
        let arm = named("aarch64-apple-darwin").expect("a target");
        let text = formula(&project, &[(arm, "ab12".into())]).expect("a formula");
        assert!(text.contains("  version \"1.2.3\"\n"), "{text}");
        let block = "  on_macos do\n    on_arm do\n      url \"https://example.org/tamis/releases/download/v1.2.3/\
                     tamis-1.2.3-aarch64-apple-darwin.tar.gz\"\n      sha256 \"ab12\"\n    end\n  end\n";
        assert!(text.contains(block), "{text}");
        assert!(!text.contains("on_linux") && !text.contains('@'), "{text}");
    }

    #[test]
    fn the_npm_packages_have_the_version_of_the_crates_and_fit_each_other() {
        let project = project();
        let targets: Vec<&Target> = TARGETS.iter().collect();
        let command = command_manifest(&project, &targets).expect("a manifest");
        assert_eq!(command["version"], env!("CARGO_PKG_VERSION"));
        let dependencies = command["optionalDependencies"].as_object().expect("an object");
        assert_eq!(dependencies.len(), TARGETS.len());
        for target in TARGETS.each_ref() {
            let manifest = platform_manifest(&project, target).expect("a manifest");
            assert_eq!(dependencies[manifest["name"].as_str().expect("a name")], manifest["version"]);
            assert_eq!(manifest["os"][0], target.npm.os);
            assert_eq!(manifest.get("libc").is_some(), target.npm.os == "linux", "{manifest}");
        }
        let script = fs::read_to_string(project.root.join("packaging/npm/tamis.js")).expect("the launcher");
        assert!(script.contains("`tamis-${process.platform}-${process.arch}`") && script.contains("`${name}-musl`"));
    }

    #[test]
    fn no_file_states_a_version_or_an_address_of_its_own() {
        let project = project();
        for file in ["install.sh", "homebrew/tamis.rb", "npm/package.json", "npm/platform.json"] {
            let text = fs::read_to_string(project.root.join("packaging").join(file)).expect("a template");
            assert!(text.contains("@VERSION@") && text.contains("@REPOSITORY@"), "{file}");
            assert!(!text.contains(&project.version), "{file}");
        }
    }

    #[test]
    fn the_guide_shows_the_names_of_the_present_version() {
        let project = project();
        let guide = fs::read_to_string(project.root.join("docs/install.md")).expect("the guide");
        let numbers = guide.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let versions: Vec<&str> =
            numbers.filter(|text| text.split('.').filter(|part| !part.is_empty()).count() == 3).collect();
        assert!(versions.len() > 5, "{versions:?}");
        let version = project.version.as_str();
        assert!(versions.iter().all(|text| text.trim_matches('.') == version), "{versions:?}; expected {version}");
    }

    #[test]
    fn what_binstall_downloads_is_what_is_packed() {
        let manifest = fs::read_to_string(project().root.join("crates/cli/Cargo.toml")).expect("the manifest");
        let manifest: toml::Table = manifest.parse().expect("a TOML document");
        let binstall = &manifest["package"]["metadata"]["binstall"];
        let filled = |key: &str| {
            let values =
                [("repo", "R"), ("version", "1.2.3"), ("target", "T"), ("archive-suffix", ".tar.gz"), ("bin", "tamis")];
            let text = binstall[key].as_str().expect("a text").to_owned();
            let text = values.iter().fold(text, |text, (name, value)| text.replace(&format!("{{ {name} }}"), value));
            text.replace("{ binary-ext }", "")
        };
        assert_eq!(filled("pkg-url"), "R/releases/download/v1.2.3/tamis-1.2.3-T.tar.gz");
        assert_eq!(filled("bin-dir"), "tamis-1.2.3-T/tamis");
    }

    #[test]
    fn the_workflow_builds_every_target() {
        let workflow = fs::read_to_string(project().root.join(".github/workflows/release.yml")).expect("the workflow");
        let prefix = "- target: ";
        let mut built: Vec<&str> = workflow.lines().filter_map(|line| line.trim().strip_prefix(prefix)).collect();
        let mut targets = TARGETS.each_ref().map(|target| target.triple);
        built.sort_unstable();
        targets.sort_unstable();
        assert_eq!(built, targets);
    }
}
