//! Fetches one file: in parts where the connection breaks, and checked at the end.

use std::fs;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::Body;
use ureq::http::Response;

use super::ModelName;
use super::add::{Listed, Sum, Sums};
use super::transport::{Failure, Transport, text};
use crate::error::HubError;
use crate::url_host::without_secrets;
use crate::{Error, Observer};

/// The attempts in a row that bring nothing.
const ATTEMPTS: u32 = 4;

/// The first wait after a failure, which doubles, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(300);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A part of a wait, after which Ctrl-C is noticed.
const SLICE: Duration = Duration::from_millis(100);

/// The end of the name of a part.
const PART: &str = ".part";

/// Fetches the files of one model at one commit.
pub(crate) struct Downloads<'a> {
    pub transport: &'a Transport,
    pub name: &'a ModelName,
    pub commit: &'a str,
    /// The most bytes of a file.
    pub limit: u64,
    pub observer: &'a dyn Observer,
}

impl Downloads<'_> {
    /// Fetches the file `source` to `path`, unless a file with the right sum is there or at one of `kept` already. A part of it from
    /// an earlier attempt is continued.
    pub fn fetch(&self, source: &str, listed: &Listed, path: &Path, kept: Option<&Path>) -> Result<Sums, Error> {
        if let Some(bytes) = listed.bytes.filter(|&bytes| bytes > self.limit) {
            return Err(self.too_large(source, bytes));
        }
        if let Some(expected) = &listed.sum {
            for known in [Some(path), kept].into_iter().flatten().filter(|known| known.is_file()) {
                let sums = self.sums(known)?;
                if sums.like(expected) == expected.text() {
                    if known != path {
                        copy(known, path).map_err(|error| unwritable(path, &error))?;
                    }
                    self.observer.advance(sums.bytes);
                    return Ok(sums);
                }
            }
        }
        let part = part_of(path);
        let before = part.metadata().map_or(0, |metadata| metadata.len());
        self.observer.advance(before);
        let mut resumed = before > 0;
        loop {
            let expected = self.transfer(source, listed, &part)?;
            let sums = self.sums(&part)?;
            if sums.like(&expected) == expected.text() {
                fs::rename(&part, path).map_err(|error| unwritable(path, &error))?;
                return Ok(sums);
            }
            fs::remove_file(&part).map_err(|error| unwritable(&part, &error))?;
            // The part of an earlier attempt may have been at fault.
            if !resumed {
                return Err(HubError::Sum {
                    model: self.name.to_string(),
                    file: source.to_owned(),
                    algorithm: expected.algorithm(),
                    expected: expected.text().to_owned(),
                    found: sums.like(&expected).to_owned(),
                }
                .into());
            }
            resumed = false;
        }
    }

    /// Reads until the part is the whole file. Returns the sum that the hub has of it.
    fn transfer(&self, source: &str, listed: &Listed, part: &Path) -> Result<Sum, Error> {
        let address = self.transport.file(self.name, self.commit, source);
        let (mut failures, mut furthest) = (0, 0);
        loop {
            let (reason, asked) = match self.request(source, &address, listed, part)? {
                Ok(sum) => return Ok(sum),
                Err(Failure::Lasting(error)) => return Err(error.into()),
                Err(Failure::Passing { reason, wait }) => (reason, wait),
            };
            // Whatever brings the file on is not in vain.
            let reached = part.metadata().map_or(0, |metadata| metadata.len());
            failures = if reached > furthest { 1 } else { failures + 1 };
            furthest = furthest.max(reached);
            if failures >= ATTEMPTS {
                let held = part.parent().and_then(|directory| directory.read_dir().ok());
                let begun = held.is_some_and(|mut files| files.next().is_some());
                return Err(HubError::Unavailable { address, reason, attempts: failures, begun }.into());
            }
            let wait = FIRST_WAIT * 2u32.pow(failures - 1);
            self.sleep(asked.unwrap_or(wait).min(LONGEST_WAIT))?;
        }
    }

    /// Sends one request for the file, or for the rest of it, and appends what comes to the part.
    fn request(
        &self,
        source: &str,
        address: &str,
        listed: &Listed,
        part: &Path,
    ) -> Result<Result<Sum, Failure>, Error> {
        let failed = |error: std::io::Error| unwritable(part, &error);
        let mut file = OpenOptions::new().append(true).create(true).open(part).map_err(failed)?;
        let mut have = file.metadata().map_err(failed)?.len();
        if have > listed.bytes.unwrap_or(self.limit) {
            file.set_len(0).map_err(failed)?;
            have = 0;
        }
        if let (true, Some(sum)) = (have > 0 && listed.bytes == Some(have), &listed.sum) {
            return Ok(Ok(sum.clone()));
        }
        let (mut response, said) = match self.transport.get(address, (have > 0).then_some(have)) {
            Ok(answer) => answer,
            Err(failure) => return Ok(Err(failure)),
        };
        if response.status().as_u16() == 416 {
            file.set_len(0).map_err(failed)?;
            return Ok(Err(Failure::passing("the server refused to continue the file")));
        }
        if let Some(failure) = self.transport.refusal(self.name, address, &mut response, &said) {
            return Ok(Err(failure));
        }
        if let Some(commit) = said.commit.as_deref().filter(|&commit| commit != self.commit) {
            return Err(self.answer(address, format!("it is of commit {commit}, not of {}", self.commit)));
        }
        let sum = match (&listed.sum, said.sum) {
            (Some(listed), Some(said)) if listed.algorithm() == said.algorithm() && *listed != said => {
                let (kind, listed, said) = (listed.algorithm(), listed.text(), said.text());
                return Err(self.answer(
                    address,
                    format!("its {kind} is {listed} in the file list, but {said} for the file itself"),
                ));
            }
            (Some(listed), _) => listed.clone(),
            (None, Some(said)) => said,
            (None, None) => return Err(self.answer(address, "it comes without a checksum to verify it".to_owned())),
        };
        if response.status().as_u16() != 206 || continues_at(&response) != Some(have) {
            file.set_len(0).map_err(failed)?;
            have = 0;
        }
        if response.status().as_u16() == 206 && continues_at(&response) != Some(have) {
            return Ok(Err(Failure::passing("the server sent another part of the file than the one asked for")));
        }
        let announced = text(response.headers(), "content-length").and_then(|length| length.parse::<u64>().ok());
        let whole = listed.bytes.or_else(|| announced.map(|length| have.saturating_add(length)));
        if let Some(bytes) = whole.filter(|&bytes| bytes > self.limit) {
            return Err(self.too_large(source, bytes));
        }
        let most = whole.unwrap_or(self.limit);
        let reached = match self.read(address, response, &mut file, have, most).map_err(|error| match error {
            Stop::Cancelled => Error::Cancelled,
            Stop::Unwritable(error) => failed(error),
        })? {
            Ok(reached) => reached,
            Err(failure) => return Ok(Err(failure)),
        };
        match whole {
            _ if reached > most => {
                file.set_len(0).map_err(failed)?;
                Err(self.answer(address, format!("it is longer than the {most} bytes that the hub gives as its size")))
            }
            Some(whole) if reached < whole => {
                Ok(Err(Failure::passing(format!("the connection ended after {reached} of {whole} bytes"))))
            }
            _ => {
                file.sync_all().map_err(failed)?;
                Ok(Ok(sum))
            }
        }
    }

    /// Appends a body to a file of `have` bytes. Returns its length then, which is more than `most` if the body does not end there.
    fn read(
        &self,
        address: &str,
        response: Response<Body>,
        file: &mut File,
        have: u64,
        most: u64,
    ) -> Result<Result<u64, Failure>, Stop> {
        let mut body = response.into_body().into_with_config().limit(u64::MAX).reader();
        let mut buffer = vec![0; 1 << 16];
        let mut reached = have;
        loop {
            if self.observer.cancelled() {
                return Err(Stop::Cancelled);
            }
            let read = match body.read(&mut buffer) {
                Ok(0) => return Ok(Ok(reached)),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Ok(Err(self.transport.broken(address, &ureq::Error::from(error))));
                }
            };
            reached += read as u64;
            if reached > most {
                return Ok(Ok(reached));
            }
            file.write_all(&buffer[..read]).map_err(Stop::Unwritable)?;
            self.observer.advance(read as u64);
        }
    }

    fn sums(&self, path: &Path) -> Result<Sums, Error> {
        Sums::from_file(path, &|| self.observer.cancelled()).map_err(|error| match self.observer.cancelled() {
            true => Error::Cancelled,
            false => Error::path(path, format!("cannot be read: {error}")),
        })
    }

    fn sleep(&self, wait: Duration) -> Result<(), Error> {
        let mut left = wait;
        while !left.is_zero() {
            self.observer.check_cancelled()?;
            let slice = left.min(SLICE);
            std::thread::sleep(slice);
            left -= slice;
        }
        Ok(())
    }

    fn answer(&self, address: &str, reason: String) -> Error {
        HubError::Answer { address: without_secrets(address), reason }.into()
    }

    fn too_large(&self, source: &str, bytes: u64) -> Error {
        let (model, what) = (self.name.to_string(), source.to_owned());
        HubError::TooLarge { model, what, bytes, limit: self.limit }.into()
    }
}

/// The reasons to stop reading that are not the server's.
enum Stop {
    Cancelled,
    Unwritable(std::io::Error),
}

/// Returns the name of a part of a file.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PART);
    name.into()
}

/// Returns the place in the file at which a partial answer begins.
fn continues_at(response: &Response<Body>) -> Option<u64> {
    let range = text(response.headers(), "content-range")?.strip_prefix("bytes ")?;
    range.split('-').next()?.trim().parse().ok()
}

/// Gives a file a second name, or copies it where the system has no such names.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(|_| ()))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::path(path, format!("cannot be written: {error}"))
}
