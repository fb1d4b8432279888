//! The user's trust in projects' configurations, which lets them send text away. Trust covers a file's content and ends when the
//! file changes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::project_file;

/// Returns the file that lists trusted configurations, in the user's configuration directory.
fn trusted_file(user_directory: &Path) -> PathBuf {
    user_directory.join("trusted")
}

fn entry(config: &Path) -> io::Result<String> {
    let content = project_file::read(config)?;
    Ok(format!("{} {}", blake3::hash(&content).to_hex(), dunce::canonicalize(config)?.display()))
}

/// Returns `true` if the user trusts the configuration file `config` with its current content.
pub fn is_trusted(user_directory: &Path, config: &Path) -> bool {
    let Ok(entry) = entry(config) else { return false };
    fs::read_to_string(trusted_file(user_directory)).is_ok_and(|text| text.lines().any(|line| line == entry))
}

/// Trusts the configuration file `config` with its current content.
///
/// # Errors
/// The file cannot be read, or the user's list cannot be written.
pub fn trust(user_directory: &Path, config: &Path) -> io::Result<()> {
    let entry = entry(config)?;
    if is_trusted(user_directory, config) {
        return Ok(());
    }
    fs::create_dir_all(user_directory)?;
    let mut file = fs::OpenOptions::new().create(true).append(true).open(trusted_file(user_directory))?;
    writeln!(file, "{entry}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_ends_when_a_configuration_changes() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let config = directory.path().join("config.toml");
        fs::write(&config, "[models.team]\n").expect("written");
        let user = directory.path().join("user");
        assert!(!is_trusted(&user, &config));
        trust(&user, &config).expect("trusted");
        assert!(is_trusted(&user, &config));
        fs::write(&config, "[models.other]\n").expect("written");
        assert!(!is_trusted(&user, &config));
    }
}
