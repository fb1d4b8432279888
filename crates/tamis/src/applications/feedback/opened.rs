//! Opened results as weak judgements: whoever reads a result in full that a search has shown says that it looked right.

use super::Feedback;
use crate::Error;
use crate::handle::now_ms;
use crate::lookup::Excerpt;
use crate::related::Related;
use crate::search::SearchCaller;
use tamis_store::Opening;

/// Text that a caller read, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened<'a> {
    /// A passage, by its identifier.
    Passage(&'a str),
    /// Lines of a document.
    Lines {
        /// The repository or project it belongs to.
        namespace: &'a str,
        /// Its path.
        path: &'a str,
        /// First line read, from 1.
        first: u32,
        /// Last line read.
        last: u32,
    },
}

impl<'a> From<&'a Excerpt> for Opened<'a> {
    fn from(excerpt: &'a Excerpt) -> Self {
        let Excerpt { namespace, path, start_line, end_line, id, .. } = excerpt;
        match id {
            Some(id) => Opened::Passage(id),
            None => Opened::Lines { namespace, path, first: *start_line, last: *end_line },
        }
    }
}

impl<'a> From<&'a Related> for Opened<'a> {
    fn from(related: &'a Related) -> Self {
        Opened::Passage(&related.passage.id)
    }
}

impl Feedback<'_> {
    /// Records that a caller opened text, at its latest search that showed a passage of it, and returns how many shown
    /// passages are newly opened. What was not shown to this caller is not recorded, since nothing is known of it.
    /// `entry_point`: where it was opened, such as `cli get`.
    ///
    /// The query's text is neither needed nor stored. Nothing is recorded when `telemetry.opened` or `telemetry.record` is
    /// off. Reading never fails or waits because of it: what cannot be recorded now is not, and
    /// [`Feedback::recording_problem`] says why.
    ///
    /// ```
    /// use tamis::SearchRequest;
    /// use tamis::search::SearchCaller;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("oven.md"), "# Oven\n\nHeat the oven to 220 degrees before baking.\n")?;
    /// # let index = tamis::Index::builder(directory.path()).set("index.models", "static").open()?;
    /// # index.refresh()?;
    /// let caller = SearchCaller::session(&["editor", "window 3"]);
    /// let request = SearchRequest { caller: Some(caller), ..SearchRequest::new("oven temperature") };
    /// let answer = index.search(request)?;
    /// let excerpt = index.get(&answer.results[0].id)?;
    /// assert_eq!(index.feedback().opened(&excerpt, &caller, "editor get"), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn opened<'a>(&self, opened: impl Into<Opened<'a>>, caller: &SearchCaller, entry_point: &str) -> u64 {
        if !self.index.config.telemetry.opened() {
            return 0;
        }
        self.index.usage.attempt(|| self.record_opened(opened.into(), caller, entry_point)).unwrap_or_default()
    }

    fn record_opened(&self, opened: Opened<'_>, caller: &SearchCaller, entry_point: &str) -> Result<u64, Error> {
        let passages: Vec<String> = match opened {
            Opened::Passage(id) => vec![id.to_owned()],
            Opened::Lines { namespace, path, first, last } => {
                let passages = self.index.store.document_passages(namespace, path)?;
                let read = passages.into_iter().filter(|one| one.start_line <= last && one.end_line >= first);
                read.map(|one| one.id).collect()
            }
        };
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let at_ms = now_ms();
        let window = i64::try_from(caller.window.as_millis()).unwrap_or(i64::MAX);
        let since_ms = at_ms.saturating_sub(window);
        let opening = Opening { caller: caller.key, entry_point, passages: &passages, since_ms, at_ms };
        Ok(self.index.usage.log()?.record_opened(&opening)?)
    }

    /// Notes that the answer of a recorded search reached its caller in part: only these passages were shown. What was not
    /// shown is then neither credited nor taken for passed over.
    pub fn shown_in_part(&self, query_id: &str, passages: &[&str]) {
        if self.index.config.telemetry.opened() {
            self.index.usage.attempt(|| Ok(self.index.usage.log()?.narrow_shown(query_id, passages)?));
        }
    }
}
