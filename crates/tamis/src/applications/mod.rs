//! What an open index answers: a search, and the applications built on the pipeline. They use the index, the search and the
//! imports, which know nothing of them.

pub mod calibrate;
pub mod duplicates;
pub mod evaluate;
#[cfg(feature = "evidence")]
pub mod evidence;
pub mod feedback;
pub mod lists;
pub mod memory;
pub mod pack;
pub mod related;
mod stored_issue;
pub mod telemetry;
pub mod tree;
pub mod troubleshoot;

use crate::Error;
use crate::get::Lookup;
use crate::handle::Index;
use crate::import::Imports;
use crate::index::Freshness;
use crate::progress::Observer;
use crate::search::{Answer, Context, SearchRequest, filter_of, scope_of, search_under};
use crate::status::{self, Contents, Status};
use pack::{Pack, PackRequest};

impl Index {
    /// Answers a query with the relevant passages, which can be none. The index is searched as it is: [`Index::refresh`]
    /// or [`Index::refresh_for_search`] brings it up to date first.
    ///
    /// ```
    /// use tamis::{Index, SearchRequest};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
    /// # let index = Index::builder(directory.path()).set("index.models", "static").open()?;
    /// # index.refresh()?;
    /// let answer = index.search(SearchRequest::new("oven temperature").limit(5).paths(["*.md"]))?;
    /// for hit in &answer.results {
    ///     println!("{}:{} {}", hit.path, hit.start_line, hit.snippet);
    /// }
    /// println!("{}", answer.cut.reason);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// An argument out of range, an aim that the cut does not support, a damaged index, a model that fails, or a guarantee
    /// that cannot be given. An empty answer is not an error.
    pub fn search(&self, request: impl Into<SearchRequest>) -> Result<Answer, Error> {
        self.search_with(&request.into(), &Freshness::default(), &())
    }

    /// [`Index::search`] after [`Index::refresh_for_search`], whose result the answer reports. `observer` follows the search
    /// and can stop it.
    ///
    /// # Errors
    /// As [`Index::search`], and [`Error::Cancelled`] if the observer stopped it.
    pub fn search_with(
        &self,
        request: &SearchRequest,
        freshness: &Freshness,
        observer: &dyn Observer,
    ) -> Result<Answer, Error> {
        let request = &self.with_indexed_paths(request)?;
        search_under(&Context::new(self, observer), request, request.promise(&self.config)?, freshness)
    }

    /// Returns the number of passages that match the filters of a request.
    ///
    /// # Errors
    /// A namespace that does not exist, or a damaged index.
    pub fn passing(&self, request: &SearchRequest) -> Result<u64, Error> {
        let (context, request) = (Context::unobserved(self), &self.with_indexed_paths(request)?);
        let filter = scope_of(&context, request)?.of_all(&filter_of(&context, request)?);
        Ok(self.store.coverage("", &filter)?.passages)
    }

    /// The request with its paths as the index has them, in the namespace that they name.
    fn with_indexed_paths(&self, request: &SearchRequest) -> Result<SearchRequest, Error> {
        let mut request = request.clone();
        let lookup = Lookup { index: self, allowed: request.asker.allowed_namespaces.as_deref() };
        let (paths, named) = lookup.indexed_paths(&request.filters.paths, &request.filters.named_namespaces())?;
        request.filters.paths = paths;
        if let Some(named) = named {
            request.filters.namespaces = vec![named];
        }
        Ok(request)
    }

    /// Returns the content of the index and its freshness.
    ///
    /// # Errors
    /// The tree or the store cannot be read.
    pub fn status(&self) -> Result<Status, Error> {
        status::status(self)
    }

    /// Returns the content of the index.
    pub fn contents(&self) -> Contents<'_> {
        Contents { index: self }
    }

    /// Returns the imports of this index: issues, wiki pages and conversations, which are not files of the tree.
    pub fn imports(&self) -> Imports<'_> {
        Imports { index: self }
    }

    /// Packs the relevant entries of a search into one text, in reading order and within a budget of tokens.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
    /// # let index = tamis::Index::builder(directory.path()).set("index.models", "static").open()?;
    /// # index.refresh()?;
    /// use tamis::pack::PackRequest;
    ///
    /// let pack = index.pack(&PackRequest { budget_tokens: 500, ..PackRequest::new("how hot should the oven be") })?;
    /// assert!(pack.text.starts_with("=== oven.md:1-3\n# Oven\n"), "{}", pack.text);
    /// assert!(pack.tokens <= 500 && pack.left_out.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The budget or the search is not allowed, or the index or a model fails.
    pub fn pack(&self, request: &PackRequest) -> Result<Pack, Error> {
        pack::pack(self, request)
    }

    /// Adds notes, hides them from search, and finds them.
    pub fn notes(&self) -> memory::Notes<'_> {
        memory::Notes { index: self }
    }

    /// Returns the files of the indexed tree: their text, names and symbols.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("door.rs"), "/// Opens it.\npub fn open() {}\n\npub fn close() {}\n")?;
    /// # let index = tamis::Index::builder(directory.path()).set("index.models", "static").open()?;
    /// # index.refresh()?;
    /// use tamis::tree::{GrepRequest, OutlineRequest};
    ///
    /// let found = index.tree().grep(&GrepRequest::new(r"pub fn \w+"), &())?;
    /// assert_eq!((found.matches, found.files), (2, 1));
    /// assert_eq!(found.results[0].hits[0].line, 2);
    ///
    /// let outline = index.tree().outline(&OutlineRequest::new("door.rs"))?;
    /// assert_eq!(outline.files[0].entries[0].signature, "pub fn open()");
    /// # Ok(())
    /// # }
    /// ```
    pub fn tree(&self) -> tree::Tree<'_> {
        tree::Tree { index: self }
    }

    /// Finds passages related to one: what is similar, what it uses, what uses it.
    pub fn related(&self) -> related::RelatedFinder<'_> {
        related::RelatedFinder { index: self }
    }

    /// Answers a problem from solved issues and the wiki.
    pub fn troubleshooting(&self) -> troubleshoot::Troubleshooter<'_> {
        troubleshoot::Troubleshooter { index: self }
    }

    /// Finds likely duplicates among the imported issues.
    pub fn duplicates(&self) -> duplicates::DuplicateFinder<'_> {
        duplicates::DuplicateFinder { index: self }
    }

    /// The evidence graph: import, export, search, SQL and views.
    #[cfg(feature = "evidence")]
    pub fn evidence(&self) -> evidence::EvidenceGraph<'_> {
        evidence::EvidenceGraph { index: self }
    }

    /// Recorded searches and the judgements of their results.
    pub fn feedback(&self) -> feedback::Feedback<'_> {
        feedback::Feedback { index: self }
    }

    /// Calibrates similarity thresholds and reports which ones hold.
    pub fn calibration(&self) -> calibrate::Calibrator<'_> {
        calibrate::Calibrator { index: self }
    }

    /// Summarizes past queries, and replays them with other cuts.
    pub fn statistics(&self) -> telemetry::Statistics<'_> {
        telemetry::Statistics { index: self }
    }
}
