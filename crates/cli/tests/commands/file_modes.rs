//! The files of an index are for all whom the user's mask lets in, whichever part of the program writes them.
#![cfg(unix)]

use crate::support::Tree;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The paths below a directory, with their modes.
fn modes(directory: &Path, found: &mut Vec<(String, bool, u32)>) {
    for entry in fs::read_dir(directory).expect("listed") {
        let path = entry.expect("an entry").path();
        let metadata = fs::metadata(&path).expect("metadata");
        found.push((path.display().to_string(), metadata.is_dir(), metadata.permissions().mode() & 0o777));
        if metadata.is_dir() {
            modes(&path, found);
        }
    }
}

#[test]
fn all_files_of_an_index_have_the_mode_that_the_users_mask_leaves() {
    for mask in [0o002, 0o022, 0o077] {
        let tree = Tree::new();
        let commands: [&[&str]; 4] = [
            &["index"],
            &["search", "how hot must the oven be for bread"],
            &["remember", "the oven was repaired"],
            &["search", "when was the oven repaired"],
        ];
        for arguments in commands {
            let program = tree.process(arguments);
            let mut masked = Command::new("sh");
            masked.arg("-c").arg(format!("umask {mask:o}; exec \"$0\" \"$@\"")).arg(program.get_program());
            masked.args(program.get_args()).current_dir(tree.root());
            for (name, value) in program.get_envs() {
                match value {
                    Some(value) => masked.env(name, value),
                    None => masked.env_remove(name),
                };
            }
            let output = masked.output().expect("it runs");
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let mut found = Vec::new();
        modes(&tree.root().join(".tamis"), &mut found);
        for name in ["tamis.db", "usage.db", "meta.json", ".managed.json", ".tvec", "write.lock", ".gitignore"] {
            assert!(found.iter().any(|(path, ..)| path.ends_with(name)), "{name}: {found:?}");
        }
        for (path, is_directory, mode) in found {
            let whole = if is_directory { 0o777 } else { 0o666 };
            assert_eq!(mode, whole & !mask, "{path}: {mode:o} under {mask:o}");
        }
    }
}
