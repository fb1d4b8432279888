//! Files in a ZIP archive, each read whole within what the archive may unpack to.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::Skip;

/// Most bytes that all files read from an archive may have together. Sizes are counted as they are unpacked, whatever the archive
/// says.
const MAX_UNPACKED: u64 = 64 << 20;

/// Most files in an archive, and what the entry of one in its directory begins with.
const MAX_FILES: usize = 20_000;
const ENTRY: &[u8] = b"PK\x01\x02";

pub(super) struct Archive<'bytes> {
    zip: ZipArchive<Cursor<&'bytes [u8]>>,
    /// The places of the files by their names in the form of [`key`].
    places: HashMap<String, usize>,
    left: u64,
}

impl<'bytes> Archive<'bytes> {
    pub(super) fn open(bytes: &'bytes [u8]) -> Result<Self, Skip> {
        // Listing a file takes ten times what its entry does.
        let entries = bytes.windows(ENTRY.len()).filter(|window| *window == ENTRY).take(MAX_FILES + 1);
        if entries.count() > MAX_FILES {
            return Err(Skip::TooLarge);
        }
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| Skip::Damaged)?;
        let mut places = HashMap::new();
        for (place, name) in zip.file_names().enumerate() {
            if let Ok(name) = name {
                places.entry(key(&name)).or_insert(place);
            }
        }
        Ok(Self { zip, places, left: MAX_UNPACKED })
    }

    /// The content of a file; `None` if there is none of this name.
    pub(super) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Skip> {
        let Some(place) = self.places.get(&key(name)) else { return Ok(None) };
        let mut file = match self.zip.by_index(*place) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(reason)) if reason == ZipError::PASSWORD_REQUIRED => {
                return Err(Skip::Encrypted);
            }
            Err(_) => return Err(Skip::Damaged),
        };
        if file.size() > self.left {
            return Err(Skip::TooLarge);
        }
        let mut content = Vec::with_capacity(usize::try_from(file.size()).unwrap_or(0));
        file.by_ref().take(self.left + 1).read_to_end(&mut content).map_err(|_| Skip::Damaged)?;
        let size = content.len() as u64;
        self.left = self.left.checked_sub(size).ok_or(Skip::TooLarge)?;
        Ok(Some(content))
    }

    /// The content of a file that a document can do without, if it is there and can be read.
    pub(super) fn optional(&mut self, name: &str) -> Option<Vec<u8>> {
        self.read(name).ok().flatten()
    }

    /// The names of all files with slashes, in the order of the archive.
    pub(super) fn names(&self) -> Vec<String> {
        self.zip.file_names().flatten().map(|name| name.replace('\\', "/")).collect()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(&key(name))
    }

    /// The content of a file that the format requires.
    pub(super) fn require(&mut self, name: &str) -> Result<Vec<u8>, Skip> {
        self.read(name)?.ok_or(Skip::Damaged)
    }
}

/// A name in the form that all spellings of it share. Some programs write backslashes, or other letters than the list of parts has.
fn key(name: &str) -> String {
    let name = name.replace('\\', "/").to_lowercase();
    name.trim_start_matches("./").trim_start_matches('/').to_owned()
}
