//! File systems in memory, of any size.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks that this process may mount a file system of a given size.
///
/// # Errors
/// The reason why it may not.
pub fn can_mount(directory: &Path) -> Result<(), String> {
    let point = directory.join("mount");
    fs::create_dir_all(&point).map_err(|error| error.to_string())?;
    Mount::new(&point, 1 << 20).map(drop).map_err(|error| error.to_string())
}

/// A file system in memory.
pub struct Mount {
    point: PathBuf,
}

impl Mount {
    /// Mounts a file system of a size.
    ///
    /// # Errors
    /// The system refuses.
    pub fn new(point: &Path, bytes: u64) -> Result<Mount> {
        mount(&["-t", "tmpfs", "-o", &format!("size={bytes}"), "torture"], point)?;
        Ok(Mount { point: point.to_owned() })
    }

    /// Changes its size.
    ///
    /// # Errors
    /// The system refuses.
    pub fn resize(&self, bytes: u64) -> Result<()> {
        mount(&["-o", &format!("remount,size={bytes}")], &self.point)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily, since a killed process may still be ending.
        let _ = Command::new("umount").arg("--lazy").arg(&self.point).output();
    }
}

fn mount(arguments: &[&str], point: &Path) -> Result<()> {
    let output = Command::new("mount").args(arguments).arg(point).output().context("mount")?;
    ensure!(output.status.success(), "mount: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}
