//! Imports the dump of a wiki, one document per page.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use tamis_store::DocumentState;
use tamis_text::{WikiDumpError, WikiDumpOptions, WikiPage, WikiSite, read_wiki_dump};

use super::issues::{LARGEST_IMPORT, file_name, open, too_large};
use super::{Content, ImportSummary, Imports, Outcome, Target, commit, held_by_another, namespace, origin, refuse};
use crate::Error;
use crate::collections::WIKI;
use crate::error::UnreadableRecord;
use crate::handle::Index;
use crate::progress::{Observer, Stage};

/// The number of pages split between two checks for cancellation.
const PAGES_A_BATCH: usize = 256;

/// An import of wiki pages.
#[derive(Clone, Debug, Default)]
pub struct PageImport {
    /// The wikis with their origins.
    pub wikis: Vec<ImportedWiki>,
    /// The namespace of the pages, which need not exist yet; `None`: the one that the index is used in.
    pub namespace: Option<String>,
    /// The number of items left out of the dumps on purpose, by kind: `redirect`, `other_namespace`, `other_model`.
    pub left_out: BTreeMap<String, u64>,
    /// The records of the dumps that could not be read.
    pub bad: Vec<UnreadableRecord>,
    /// Leaves out unreadable records instead of importing nothing.
    pub skip_bad: bool,
    /// Changes nothing and reports what would change.
    pub dry_run: bool,
}

/// A wiki that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedWiki {
    /// Its origin: the wiki's host or name, or else the name of the file.
    pub origin: String,
    /// Its pages. Of two with one title, the later revision wins.
    pub pages: Vec<WikiPage>,
}

impl PageImport {
    /// Reads a MediaWiki dump, plain or compressed with gzip or bzip2, and adds its pages. `origin` is its origin; `None`: the
    /// one that the dump names, or else `name`. A truncated dump counts as one bad record after the pages that could be read.
    ///
    /// # Errors
    /// The input is not a dump, cannot be read, or holds more text than [`LARGEST_IMPORT`].
    pub fn read(
        &mut self,
        name: &str,
        dump: impl Read,
        origin: Option<&str>,
        options: &WikiDumpOptions,
    ) -> Result<(), Error> {
        let mut pages: Vec<WikiPage> = Vec::new();
        let mut bytes = 0;
        let read = read_wiki_dump(dump, options, |page| {
            bytes += page.wikitext.len() as u64;
            if bytes > LARGEST_IMPORT {
                return ControlFlow::Break(());
            }
            pages.push(page);
            ControlFlow::Continue(())
        });
        let mut bad = |position: String, reason: String| {
            self.bad.push(UnreadableRecord { position: format!("{name}: {position}"), reason });
        };
        match read {
            Ok(dump) if dump.stopped => return Err(too_large(Path::new(name))),
            Ok(dump) => {
                dump.bad.into_iter().for_each(|record| bad(record.position, record.reason));
                let left_out = [
                    ("redirect", dump.redirects),
                    ("other_namespace", dump.other_namespaces),
                    ("other_model", dump.other_models),
                ];
                for (kind, count) in left_out.into_iter().filter(|(_, count)| *count > 0) {
                    *self.left_out.entry(kind.to_owned()).or_default() += count as u64;
                }
            }
            Err(WikiDumpError::Broken { byte, pages, reason }) => {
                bad(format!("byte {byte}, after {pages} pages"), format!("the dump breaks off here: {reason}"));
            }
            Err(error @ WikiDumpError::NotADump { .. }) => return Err(Error::path(Path::new(name), error.to_string())),
        }
        let said = pages.first().and_then(|page| host(&page.site));
        let origin = origin.map(str::to_owned).or(said).unwrap_or_else(|| file_name(name));
        match self.wikis.iter_mut().find(|wiki| wiki.origin == origin) {
            Some(wiki) => wiki.pages.extend(pages),
            None => self.wikis.push(ImportedWiki { origin, pages }),
        }
        Ok(())
    }

    /// Reads a dump from a file, as [`PageImport::read`] does.
    ///
    /// # Errors
    /// Those of [`PageImport::read`], and a file larger than [`LARGEST_IMPORT`].
    pub fn read_file(&mut self, path: &Path, origin: Option<&str>, options: &WikiDumpOptions) -> Result<(), Error> {
        let (file, _) = open(path)?;
        self.read(&path.display().to_string(), file, origin, options)
    }
}

/// Returns the wiki's host, or else its name for people.
fn host(site: &WikiSite) -> Option<String> {
    let host = site.base.as_deref().and_then(|base| base.split_once("://")).map(|(_, rest)| rest);
    let host = host.and_then(|rest| rest.split('/').next()).filter(|host| !host.is_empty());
    host.or(site.name.as_deref()).map(str::to_owned)
}

impl Imports<'_> {
    /// Imports wiki pages in one transaction, one document per page (`wiki:Title`). A stored page of a later revision stays.
    /// Pages that a dump lacks stay too, since a dump need not cover the whole wiki. Searches find the changes after the next
    /// [`Index::complete`].
    ///
    /// # Errors
    /// A record cannot be read and must not be left out; a page came from another wiki; a namespace must be named; another
    /// process is still writing.
    pub fn pages(&self, import: PageImport, observer: &dyn Observer) -> Result<ImportSummary, Error> {
        let PageImport { wikis, namespace: named, left_out, bad, skip_bad, dry_run } = import;
        let namespace = namespace(self.index, named.as_deref())?;
        let bad = refuse(bad, skip_bad)?;
        let origins = wikis.iter().map(|wiki| origin(&wiki.origin).map(str::to_owned));
        let origins = origins.collect::<Result<Vec<String>, Error>>()?;
        let _writing = if dry_run { None } else { Some(self.index.wait_to_write(observer)?) };
        let summary = Target::new(&namespace, WIKI, &origins.join(", ")).summary(dry_run);
        let mut summary = ImportSummary { left_out, bad, ..summary };
        let started = Instant::now();
        observer.stage(Stage::Import, wikis.iter().map(|wiki| wiki.pages.len() as u64).sum());
        let mut outcomes = Vec::new();
        let mut taken: BTreeMap<String, &str> = BTreeMap::new();
        for (wiki, origin) in wikis.into_iter().zip(&origins) {
            let target = Target::new(&namespace, WIKI, origin);
            let mut pages = latest(wiki.pages).into_iter().peekable();
            while pages.peek().is_some() {
                if observer.cancelled() {
                    return Ok(summary.stopped());
                }
                // Pages are taken out one by one, so that memory does not hold them both whole and split.
                let part: Vec<(String, WikiPage)> = pages.by_ref().take(PAGES_A_BATCH).collect();
                for (path, _) in &part {
                    if let Some(other) = taken.insert(path.clone(), origin) {
                        return Err(held_by_another(path, origin, other));
                    }
                }
                let count = part.len() as u64;
                let done: Result<Vec<Outcome>, Error> =
                    part.into_par_iter().map(|(path, page)| outcome(self.index, &target, path, &page)).collect();
                outcomes.extend(done?);
                observer.advance(count);
            }
        }
        summary.time("split", started);
        commit(self.index, outcomes, summary, observer)
    }
}

/// Returns the pages by their paths, each in its latest revision.
fn latest(pages: Vec<WikiPage>) -> BTreeMap<String, WikiPage> {
    let mut by_path: BTreeMap<String, WikiPage> = BTreeMap::new();
    for page in pages {
        let path = WikiPage::path(&page.title);
        let revision = |page: &WikiPage| (page.timestamp, page.revision);
        if by_path.get(&path).is_none_or(|known| revision(known) <= revision(&page)) {
            by_path.insert(path, page);
        }
    }
    by_path
}

fn outcome(index: &Index, target: &Target<'_>, path: String, page: &WikiPage) -> Result<Outcome, Error> {
    let state = index.store.document(target.namespace, &path)?;
    if let Some(DocumentState { origin: other, .. }) = &state
        && other.as_deref() != Some(target.origin)
    {
        return Err(held_by_another(&path, target.origin, other.as_deref().unwrap_or("the files of the tree")));
    }
    let given = page.timestamp.map(jiff::Timestamp::as_nanosecond);
    let stored = state.as_ref().and_then(|state| state.dated_ns).map(i128::from);
    if stored.is_some() && given < stored {
        return Ok(Outcome::Older);
    }
    let content = Content::text(format!("{}\n{:?}\n{}", page.title, page.timestamp, page.wikitext));
    Ok(target.outcome(path, content, state.as_ref(), |options| page.document(options)))
}
