//! Limits of a run.

use std::time::Duration;

/// Most passages that a better model of this machine embeds before somebody gets an answer, and the longest time for it.
const FEW: u64 = 500;
const SHORT: Duration = Duration::from_secs(4);

/// The same for a remote model, which may cost money.
const FEW_TO_SEND: u64 = 64;

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Most passages to embed with each model after the first one. A model that lacks more waits for another run.
    pub embed_at_most: u64,
    /// The same for a remote model, if that is less.
    pub send_at_most: u64,
    /// The longest time for embedding with each of these models. The rest waits for another run.
    pub embed_for: Duration,
    /// True to read every file, whatever its size and time.
    pub reread: bool,
    /// True if a question waits for the run. A remote model gets less time then, and the dates of commits are read only if all
    /// are unknown.
    pub hurried: bool,
    /// True to read a tree of any size. Otherwise a first run refuses more than 200,000 files or 5 GB.
    pub any_size: bool,
}

impl RunOptions {
    /// No limits: every model embeds every passage.
    pub const WHOLE: RunOptions = RunOptions {
        embed_at_most: u64::MAX,
        send_at_most: u64::MAX,
        embed_for: Duration::MAX,
        reread: false,
        hurried: false,
        any_size: false,
    };

    /// Ends when the first model has embedded everything, so that nobody waits for a slower one. A slower model that lacks only a
    /// few passages embeds them: 500 at most and for four seconds, and 64 at most if it is remote.
    pub const FIRST_MODEL: RunOptions =
        RunOptions { embed_at_most: FEW, send_at_most: FEW_TO_SEND, embed_for: SHORT, ..RunOptions::WHOLE };

    /// The run before a search.
    pub(crate) const BEFORE_SEARCH: RunOptions = RunOptions { hurried: true, ..RunOptions::FIRST_MODEL };

    /// Most passages to embed with a model after the first one.
    pub(super) fn most(&self, is_remote: bool) -> u64 {
        if is_remote { self.embed_at_most.min(self.send_at_most) } else { self.embed_at_most }
    }
}
