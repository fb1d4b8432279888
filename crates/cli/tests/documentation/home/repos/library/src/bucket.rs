/// A token bucket: it fills at a steady rate, and each call takes one token.
pub struct Bucket {
    tokens: u32,
    filled_at: u64,
}

impl Bucket {
    /// Takes a token, if one is there.
    pub fn take(&mut self, now: u64) -> Option<()> {
        self.fill(now);
        self.tokens = self.tokens.checked_sub(1)?;
        Some(())
    }
}
