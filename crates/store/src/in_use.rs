//! Replacing and removing files that a process may still have mapped.
//!
//! Unix does both at once, because a mapping keeps its file. Windows refuses to replace or delete a mapped file, but renames
//! it. So where the system refuses, the old file is set aside under an unused name and removed by a later call.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// The prefix of the name of a file that was set aside.
const ASIDE: &str = ".aside-";

/// Replaces a file, which need not exist, by a new one.
pub(crate) fn replace(new: &Path, path: &Path) -> Result<()> {
    match fs::rename(new, path) {
        Err(error) if may_be_in_use(&error) => replace_by_setting_aside(new, path).map_err(|_| error),
        done => done,
    }
}

/// Removes a file, which need not exist.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if may_be_in_use(&error) => set_aside(path).map(drop).map_err(|_| error),
        done => done,
    }
}

/// Removes a directory, which need not exist, with its content. Files in use are set aside instead.
pub(crate) fn remove_directory(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if may_be_in_use(&error) => empty_by_setting_aside(directory).map_err(|_| error),
        done => done,
    }
}

fn may_be_in_use(error: &Error) -> bool {
    cfg!(windows) && error.kind() != ErrorKind::NotFound
}

fn replace_by_setting_aside(new: &Path, path: &Path) -> Result<()> {
    let old = set_aside(path)?;
    fs::rename(new, path).inspect_err(|_| {
        // Readers find the old file again.
        let _ = fs::rename(&old, path);
    })?;
    // A mapped file stays until a later call removes it.
    let _ = fs::remove_file(&old);
    Ok(())
}

fn empty_by_setting_aside(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_directory(&entry.path())?;
        } else if !entry.file_name().to_string_lossy().starts_with(ASIDE) {
            set_aside(&entry.path())?;
        }
    }
    Ok(())
}

/// Renames a file to an unused name, and removes earlier ones that are no longer in use.
fn set_aside(path: &Path) -> Result<PathBuf> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut taken = Vec::new();
    for entry in fs::read_dir(directory)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(number) = name.strip_prefix(ASIDE)
            && fs::remove_file(entry.path()).is_err()
        {
            taken.push(number.to_owned());
        }
    }
    let free = (0_u64..).map(|number| number.to_string()).find(|number| !taken.contains(number)).unwrap_or_default();
    let aside = directory.join(format!("{ASIDE}{free}"));
    fs::rename(path, &aside)?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .expect("listed")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_is_set_aside_gives_its_place_to_the_new_one() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, new) = (directory.path().join("a.tvec"), directory.path().join("a.tvec.new"));
        fs::write(&path, "old").expect("written");
        fs::write(&new, "new").expect("written");
        replace_by_setting_aside(&new, &path).expect("replaced");
        assert_eq!(fs::read_to_string(&path).expect("read"), "new");
        assert_eq!(names(directory.path()), ["a.tvec"]);
        assert!(replace_by_setting_aside(&new, &path).is_err(), "there is no new one");
        assert_eq!(fs::read_to_string(&path).expect("read"), "new", "what was there stays");
    }

    #[test]
    fn what_is_mapped_is_replaced_and_removed() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, new) = (directory.path().join("a.tvec"), directory.path().join("a.tvec.new"));
        fs::write(&path, "old").expect("written");
        // SAFETY: nobody changes the content of either file while it is mapped.
        let map = |path: &Path| unsafe { memmap2::Mmap::map(&fs::File::open(path).expect("opened")) }.expect("mapped");
        let old = map(&path);
        fs::write(&new, "new").expect("written");
        replace(&new, &path).expect("replaced");
        let current = map(&path);
        assert_eq!((&old[..], &current[..]), (&b"old"[..], &b"new"[..]));
        remove(&path).expect("removed");
        remove(&path).expect("it need not exist");
        assert!(!path.exists());
        assert_eq!(&current[..], b"new");
        drop((old, current));
        fs::write(&path, "newest").expect("written");
        remove(&set_aside(&path).expect("set aside")).expect("removed");
        assert_eq!(names(directory.path()), [""; 0], "nothing that was set aside is left once it is free");
    }

    #[test]
    fn a_directory_in_use_is_left_without_a_name_that_is_asked_for() {
        let base = tempfile::tempdir().expect("a temporary directory");
        let directory = base.path().join("lexical");
        fs::create_dir_all(directory.join("deep")).expect("made");
        fs::write(directory.join("meta.json"), "{}").expect("written");
        empty_by_setting_aside(&directory).expect("emptied");
        assert!(names(&directory).iter().all(|name| name.starts_with(ASIDE)), "{:?}", names(&directory));
        remove_directory(&directory).expect("removed");
        remove_directory(&directory).expect("it need not exist");
        assert!(!directory.exists());
    }
}
