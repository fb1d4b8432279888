//! Limits of a run.

/// Most new passages that are embedded with the better model before somebody gets an answer.
const FEW: u64 = 64;

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Most passages to embed with each model after the first one. A model that lacks more waits for another run.
    pub embed_at_most: u64,
    /// True to read every file, whatever its size and time.
    pub reread: bool,
    /// True if a question waits for the run. A remote model gets less time then, and the dates of commits are read only if all
    /// are unknown.
    pub hurried: bool,
}

impl RunOptions {
    /// No limits: every model embeds every passage.
    pub const WHOLE: RunOptions = RunOptions { embed_at_most: u64::MAX, reread: false, hurried: false };

    /// Ends when the first model has embedded everything, so that nobody waits for a slower one. A slower model that lacks only a
    /// few passages, 64 at most, embeds them.
    pub const FIRST_MODEL: RunOptions = RunOptions { embed_at_most: FEW, ..RunOptions::WHOLE };

    /// The run before a search.
    pub(crate) const BEFORE_SEARCH: RunOptions = RunOptions { hurried: true, ..RunOptions::FIRST_MODEL };
}
