//! A directory that a process without the right to write can search, with files for all whom the user's mask lets in.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// Mapped files, as in [`MmapDirectory`], which gives files that it replaces as a whole to their owner alone. Where the lock cannot be created, it counts as taken: a process without the right to
/// write removes no files, and one with it removes none that is open.
#[derive(Debug, Clone)]
pub(super) struct LexicalDirectory {
    mapped: MmapDirectory,
    path: PathBuf,
}

impl LexicalDirectory {
    pub fn open(path: &Path) -> tantivy::Result<LexicalDirectory> {
        Ok(LexicalDirectory { mapped: MmapDirectory::open(path)?, path: path.to_owned() })
    }
}

impl Directory for LexicalDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.mapped.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        // The mask takes from it, as from all other files.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(&self.path)?;
        file.write_all(data)?;
        file.as_file().sync_data()?;
        file.into_temp_path().persist(self.path.join(path))?;
        Ok(())
    }

    fn sync_directory(&self) -> std::io::Result<()> {
        self.mapped.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match self.mapped.acquire_lock(lock) {
            Err(LockError::IoError(error)) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => {
                Ok(DirectoryLock::from(Box::new(())))
            }
            result => result,
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}
