//! The archive of a release: the program with its licences, completions and manual pages.

use super::project::Project;
use super::target::Target;
use super::tools::quietly;
use anyhow::{Context, Result, ensure};
use flate2::{Compression, GzBuilder};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The completion scripts, with the shell of each.
const COMPLETIONS: [(&str, &str); 4] =
    [("bash", "tamis.bash"), ("zsh", "_tamis"), ("fish", "tamis.fish"), ("powershell", "_tamis.ps1")];

/// The files of the checkout that go into every archive.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The file with the licences of what is linked in.
pub const LICENCES: &str = "THIRD-PARTY-LICENSES.txt";

/// Lays out a directory with everything that belongs to a program, and returns it.
///
/// # Errors
/// The program does not run, or a file cannot be written.
pub fn lay_out(project: &Project, target: &Target, program: &Path, licences: Option<&Path>) -> Result<PathBuf> {
    ensure!(target.runs_here(), "the program for {} does not run here, so its manual cannot be made", target.triple);
    let directory = project.empty_work(&format!("archive/{}", target.archive(&project.version)))?;
    let copy = |from: &Path, name: &str| {
        fs::copy(from, directory.join(name)).with_context(|| format!("{} cannot be copied", from.display()))
    };
    copy(program, target.program())?;
    for text in TEXTS {
        copy(&project.root.join(text), text)?;
    }
    if let Some(licences) = licences {
        copy(licences, LICENCES)?;
    }
    let program = directory.join(target.program());
    fs::create_dir_all(directory.join("completions"))?;
    for (shell, file) in COMPLETIONS {
        let script = quietly(Command::new(&program).args(["completions", shell]))?;
        fs::write(directory.join("completions").join(file), script)?;
    }
    quietly(Command::new(&program).arg("man").arg(directory.join("man")))?;
    Ok(directory)
}

/// Packs a directory. Equal files give equal bytes: entries are sorted and have the time of the commit, one owner and one of two
/// modes.
///
/// # Errors
/// A file cannot be read or written.
pub fn pack(directory: &Path, to: &Path, time: u64) -> Result<()> {
    let name = directory.file_name().context("the directory has no name")?;
    let mut files = BTreeMap::new();
    collect(directory, Path::new(name), &mut files)?;
    let file = File::create(to).with_context(|| format!("{} cannot be written", to.display()))?;
    let compressed = GzBuilder::new().write(BufWriter::new(file), Compression::best());
    let mut builder = tar::Builder::new(compressed);
    for (path, from) in files {
        let mut bytes = Vec::new();
        File::open(&from)?.read_to_end(&mut bytes)?;
        let is_program = path.parent() == Some(Path::new(name)) && path.file_stem() == Some("tamis".as_ref());
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(if is_program { 0o755 } else { 0o644 });
        header.set_mtime(time);
        header.set_uid(0);
        header.set_gid(0);
        builder.append_data(&mut header, &path, bytes.as_slice())?;
    }
    builder.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// Collects the files below a directory by their path in the archive.
fn collect(directory: &Path, path: &Path, files: &mut BTreeMap<PathBuf, PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = path.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &path, files)?;
        } else {
            files.insert(path, entry.path());
        }
    }
    Ok(())
}

/// Unpacks an archive into a directory.
///
/// # Errors
/// It cannot be read, or the directory cannot be written.
pub fn unpack(archive: &Path, into: &Path) -> Result<()> {
    let file = File::open(archive).with_context(|| format!("{} cannot be read", archive.display()))?;
    let archive_name = archive.display();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    archive.unpack(into).with_context(|| format!("{archive_name} cannot be unpacked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_files_give_equal_archives_whenever_and_wherever_they_were_made() {
        let packed = |order: [&str; 3]| {
            let directory = tempfile::tempdir().expect("a directory");
            let content = directory.path().join("tamis-1");
            fs::create_dir_all(content.join("man")).expect("made");
            for name in order {
                fs::write(content.join(name), name).expect("written");
            }
            let to = directory.path().join("out.tar.gz");
            pack(&content, &to, 1_700_000_000).expect("packed");
            let unpacked = directory.path().join("unpacked");
            unpack(&to, &unpacked).expect("unpacked");
            assert_eq!(fs::read(unpacked.join("tamis-1/man/tamis.1")).expect("read"), b"man/tamis.1");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = |name: &str| fs::metadata(unpacked.join(name)).expect("there").permissions().mode() & 0o777;
                assert_eq!((mode("tamis-1/tamis"), mode("tamis-1/README.md")), (0o755, 0o644));
            }
            fs::read(to).expect("read")
        };
        let first = packed(["tamis", "README.md", "man/tamis.1"]);
        assert_eq!(first, packed(["man/tamis.1", "README.md", "tamis"]));
    }
}
