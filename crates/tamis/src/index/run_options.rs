//! Limits of a run.

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Most passages to embed with each model after the first one. A model that lacks more waits for another run.
    pub embed_at_most: u64,
    /// True to read every file, whatever its size and time.
    pub reread: bool,
}

impl RunOptions {
    /// No limits.
    pub const WHOLE: RunOptions = RunOptions { embed_at_most: u64::MAX, reread: false };
}
