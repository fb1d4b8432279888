//! The locations of the user's own files.

use crate::support::{Tree, good};
use std::fs;
use std::path::Path;

/// The location of configuration under a home directory, by the conventions of the system.
const NATIVE: &str = if cfg!(windows) {
    "AppData/Roaming/tamis"
} else if cfg!(target_os = "macos") {
    "Library/Application Support/tamis"
} else {
    ".config/tamis"
};

/// The output of `tamis config KEY` for a user with this home directory and no variable that names the directory
/// itself.
fn top_k(tree: &Tree, home: &Path, moved: Option<&Path>) -> String {
    let mut command = tree.tamis(&["config", "search.top_k"]);
    command.env_remove("TAMIS_CONFIG_HOME").env_remove("XDG_CONFIG_HOME");
    command.env("HOME", home).env("USERPROFILE", home).env("APPDATA", home.join("AppData/Roaming"));
    command.envs(moved.map(|moved| ("XDG_CONFIG_HOME", moved)));
    good(command).0.trim().to_owned()
}

fn sets(directory: &Path, top_k: u32) {
    fs::create_dir_all(directory).expect("made");
    fs::write(directory.join("config.toml"), format!("[search]\ntop_k = {top_k}\n")).expect("written");
}

#[test]
fn the_users_configuration_is_where_the_system_keeps_such_files() {
    let tree = Tree::new();
    let home = tempfile::tempdir().expect("a temporary directory");
    sets(&home.path().join(NATIVE), 22);
    assert_eq!(top_k(&tree, home.path(), None), "22");
    if cfg!(target_os = "linux") {
        let moved = home.path().join("moved");
        sets(&moved.join("tamis"), 23);
        assert_eq!(top_k(&tree, home.path(), Some(&moved)), "23", "XDG_CONFIG_HOME");
        assert_eq!(top_k(&tree, home.path(), Some(Path::new("moved"))), "22", "a relative one is none");
    }
}
