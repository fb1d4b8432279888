//! The account that runs the server, since PostgreSQL refuses to run as root.

use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The accounts that may run the server in place of root, best first.
const STAND_INS: [&str; 2] = ["postgres", "nobody"];

/// The user that runs the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Account {
    /// The caller.
    Own,
    /// Another user and its group, in place of root.
    Other { user: u32, group: u32 },
}

impl Account {
    /// Returns the account for a new server.
    ///
    /// # Errors
    /// The caller is root, and there is no other account.
    pub fn for_server() -> Result<Account> {
        // SAFETY: the call cannot fail and reads nothing of this process's memory.
        if unsafe { libc::geteuid() } != 0 {
            return Ok(Account::Own);
        }
        let users = fs::read_to_string("/etc/passwd").context("/etc/passwd")?;
        stand_in(&users).with_context(|| {
            format!("PostgreSQL refuses to run as root, and there is no user {}", STAND_INS.join(" or "))
        })
    }

    /// Returns the account that owns a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn owner_of(path: &Path) -> Result<Account> {
        let metadata = fs::metadata(path).with_context(|| path.display().to_string())?;
        // SAFETY: as above.
        Ok(match unsafe { libc::geteuid() } {
            0 => Account::Other { user: metadata.uid(), group: metadata.gid() },
            _ => Account::Own,
        })
    }

    /// Prepares a program to run under this account, with nothing on standard input and in the root directory, which everyone can enter.
    pub fn command(self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.stdin(Stdio::null()).current_dir("/");
        for (name, _) in std::env::vars_os() {
            // These would point the programs at another server.
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        if let Account::Other { user, group } = self {
            command.uid(user).gid(group);
        }
        command
    }

    /// Gives a file to this account.
    ///
    /// # Errors
    /// The system refuses.
    pub fn own(self, path: &Path) -> Result<()> {
        match self {
            Account::Own => Ok(()),
            Account::Other { user, group } => {
                chown(path, Some(user), Some(group)).with_context(|| path.display().to_string())
            }
        }
    }

    /// Returns the first of some directories that this account can reach.
    pub fn first_in_reach(self, directories: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
        let can_enter = |path: &Path| fs::metadata(path).is_ok_and(|data| data.is_dir() && data.mode() & 0o001 != 0);
        directories.into_iter().filter_map(|directory| directory.canonicalize().ok()).find(|directory| match self {
            Account::Own => true,
            Account::Other { .. } => directory.ancestors().all(can_enter),
        })
    }
}

/// Finds the best stand-in for root among the lines of `/etc/passwd`.
fn stand_in(users: &str) -> Option<Account> {
    let account = |wanted: &str| {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            let (user, group) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
            (name == wanted && user != 0).then_some(Account::Other { user, group })
        })
    };
    STAND_INS.into_iter().find_map(account)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_postgresql_stands_in_before_nobody() {
        let users = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65533:nobody:/:/sbin/nologin\n";
        assert_eq!(stand_in(users), Some(Account::Other { user: 65534, group: 65533 }));
        let users = format!("{users}postgres:x:101:104:A, B:/var/lib/postgresql:/bin/bash\n");
        assert_eq!(stand_in(&users), Some(Account::Other { user: 101, group: 104 }));
    }

    #[test]
    fn root_and_malformed_lines_stand_in_for_nothing() {
        assert_eq!(stand_in(""), None);
        assert_eq!(stand_in("root:x:0:0::/root:/bin/sh\nnobody\nnobody:x:many:1\nnobody:x:0:0\npostgres:x:5"), None);
    }

    #[test]
    fn a_directory_behind_a_private_one_is_out_of_reach_of_others() {
        use std::os::unix::fs::PermissionsExt;
        let base = tempfile::tempdir().expect("a directory");
        let inner = base.path().join("inner");
        fs::create_dir(&inner).expect("created");
        fs::set_permissions(base.path(), fs::Permissions::from_mode(0o700)).expect("private");
        let other = Account::Other { user: 65534, group: 65534 };
        assert_eq!(other.first_in_reach([inner.clone()]), None);
        assert_eq!(other.first_in_reach([inner.clone(), "/".into()]), Some("/".into()));
        assert_eq!(Account::Own.first_in_reach([inner.clone()]), inner.canonicalize().ok());
        assert_eq!(Account::Own.first_in_reach([inner.join("missing")]), None);
    }
}
