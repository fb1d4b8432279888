//! A directory that a process without the right to write can search.

use std::path::Path;
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// Mapped files, as in [`MmapDirectory`]. Where the lock cannot be created, it counts as taken: a process without the right to
/// write removes no files, and one with it removes none that is open.
#[derive(Debug, Clone)]
pub(super) struct SearchDirectory(pub(super) MmapDirectory);

impl Directory for SearchDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.0.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> std::io::Result<()> {
        self.0.atomic_write(path, data)
    }

    fn sync_directory(&self) -> std::io::Result<()> {
        self.0.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match self.0.acquire_lock(lock) {
            Err(LockError::IoError(error)) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => {
                Ok(DirectoryLock::from(Box::new(())))
            }
            result => result,
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}
