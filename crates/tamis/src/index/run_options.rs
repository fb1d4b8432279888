//! Limits of a run.

/// What a run may spend.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Most passages to embed with each model after the first one; a model that lacks more is left for another run.
    pub embed_at_most: u64,
    /// Read every file, whatever its size and time say.
    pub reread: bool,
}

impl RunOptions {
    /// Everything, however long it takes.
    pub const WHOLE: RunOptions = RunOptions { embed_at_most: u64::MAX, reread: false };
}
