//! The vocabulary as two open-addressing hash tables, words and continuations, built in about a millisecond from the
//! plain list of tokens.

/// An unusable vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// The token for unknown words is missing.
    #[error("the vocabulary of {tokens} tokens lacks [UNK]; expected one token a line, as in BERT's vocab.txt")]
    NoUnknownToken {
        /// The number of tokens read.
        tokens: usize,
    },
    /// The list is longer than its 32-bit positions can address.
    #[error("the vocabulary has {bytes} bytes; at most {} are supported", u32::MAX)]
    TooLarge {
        /// The size of the list.
        bytes: usize,
    },
}

#[derive(Debug)]
pub struct Vocabulary {
    text: &'static str,
    /// The start of each token in `text`, then one past the end.
    starts: Vec<u32>,
    words: Table,
    continuations: Table,
    /// Length in bytes of the longest token without its `##`.
    longest: usize,
    unknown: u32,
}

impl Vocabulary {
    pub fn new(text: &'static str) -> Result<Self, VocabularyError> {
        let text = text.trim_end_matches(['\r', '\n']);
        if text.len() >= u32::MAX as usize {
            return Err(VocabularyError::TooLarge { bytes: text.len() });
        }
        let tokens = text.split('\n').count();
        let mut vocabulary = Self {
            text,
            starts: Vec::with_capacity(tokens + 1),
            words: Table::with_room_for(tokens),
            continuations: Table::with_room_for(tokens / 4),
            longest: 0,
            unknown: 0,
        };
        let mut start = 0;
        for (id, line) in text.split('\n').enumerate() {
            vocabulary.starts.push(start);
            start += line.len() as u32 + 1;
            let token = line.trim_end_matches('\r');
            // `##` alone is a word; any other token that begins with it continues one.
            let (table, piece) = match token.strip_prefix("##") {
                Some(piece) if !piece.is_empty() => (&mut vocabulary.continuations, piece),
                _ => (&mut vocabulary.words, token),
            };
            table.insert(hash(piece), id as u32);
            vocabulary.longest = vocabulary.longest.max(piece.len());
        }
        vocabulary.starts.push(start);
        vocabulary.unknown = vocabulary.id("[UNK]").ok_or(VocabularyError::NoUnknownToken { tokens })?;
        Ok(vocabulary)
    }

    /// Appends the pieces of a word, longest match first, or the unknown token when a part matches nothing.
    pub fn split(&self, word: &str, longest_word: usize, ids: &mut Vec<u32>) {
        let before = ids.len();
        if word.len() > longest_word && word.chars().count() > longest_word {
            ids.push(self.unknown);
            return;
        }
        let bytes = word.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let table = if start == 0 { &self.words } else { &self.continuations };
            match self.longest_match(table, &bytes[start..], start > 0) {
                Some((id, length)) => {
                    ids.push(id);
                    start += length;
                }
                None => {
                    ids.truncate(before);
                    ids.push(self.unknown);
                    return;
                }
            }
        }
    }

    /// Finds the longest entry of `table` at the start of `rest`, and its length. One pass hashes every prefix, so that the
    /// look-ups from the longest down cost one probe each.
    fn longest_match(&self, table: &Table, rest: &[u8], continues: bool) -> Option<(u32, usize)> {
        const WINDOW: usize = 64;
        let reach = rest.len().min(self.longest);
        if reach > WINDOW {
            return (1..=reach).rev().find_map(|end| {
                self.find(table, hash_bytes(&rest[..end]), &rest[..end], continues).map(|id| (id, end))
            });
        }
        let mut hashes = [0u32; WINDOW];
        let mut state = HASH_START;
        for (slot, &byte) in hashes.iter_mut().zip(&rest[..reach]) {
            state = hash_step(state, byte);
            *slot = hash_finish(state);
        }
        // No entry ends inside a character, so character boundaries need no check.
        (1..=reach).rev().find_map(|end| self.find(table, hashes[end - 1], &rest[..end], continues).map(|id| (id, end)))
    }

    fn find(&self, table: &Table, hash: u32, piece: &[u8], continues: bool) -> Option<u32> {
        table.candidates(hash).find(|&id| {
            let token = self.token(id).unwrap_or("").as_bytes();
            let token = if continues { &token[2..] } else { token };
            token == piece
        })
    }

    /// Finds a word that needs no pieces.
    pub fn whole(&self, word: &str) -> Option<u32> {
        self.find(&self.words, hash(word), word.as_bytes(), false)
    }

    pub fn id(&self, token: &str) -> Option<u32> {
        match token.strip_prefix("##") {
            Some(piece) if !piece.is_empty() => self.find(&self.continuations, hash(piece), piece.as_bytes(), true),
            _ => self.whole(token),
        }
    }

    pub fn token(&self, id: u32) -> Option<&'static str> {
        let start = *self.starts.get(id as usize)? as usize;
        let end = *self.starts.get(id as usize + 1)? as usize;
        // The end is one past the line feed, or past the end of the text for the last token.
        Some(self.text.get(start..end - 1)?.trim_end_matches('\r'))
    }

    pub fn size(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn unknown(&self) -> u32 {
        self.unknown
    }
}

/// A hash table with linear probing, at most half full. A slot holds a hash and an identifier; the hash settles nearly every
/// comparison without a look at the token's text.
#[derive(Debug)]
struct Table {
    slots: Vec<(u32, u32)>,
    used: usize,
}

const EMPTY: u32 = u32::MAX;

impl Table {
    fn with_room_for(entries: usize) -> Self {
        Self { slots: vec![(0, EMPTY); (entries.max(4) * 2).next_power_of_two()], used: 0 }
    }

    fn insert(&mut self, hash: u32, id: u32) {
        if (self.used + 1) * 2 > self.slots.len() {
            let old = std::mem::replace(self, Self::with_room_for(self.slots.len()));
            for (hash, id) in old.slots.into_iter().filter(|slot| slot.1 != EMPTY) {
                self.insert(hash, id);
            }
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at].1 != EMPTY {
            at = (at + 1) & mask;
        }
        self.slots[at] = (hash, id);
        self.used += 1;
    }

    /// Yields every entry with this hash, in the order of insertion.
    fn candidates(&self, hash: u32) -> impl Iterator<Item = u32> + '_ {
        let mask = self.slots.len() - 1;
        (0..self.slots.len())
            .map(move |step| self.slots[(hash as usize + step) & mask])
            .take_while(|slot| slot.1 != EMPTY)
            .filter(move |slot| slot.0 == hash)
            .map(|slot| slot.1)
    }
}

/// FNV-1a extends byte by byte, so one pass hashes all prefixes.
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash_step(state: u64, byte: u8) -> u64 {
    (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
}

fn hash_finish(state: u64) -> u32 {
    (state ^ (state >> 32)) as u32
}

fn hash_bytes(bytes: &[u8]) -> u32 {
    hash_finish(bytes.iter().fold(HASH_START, |state, &byte| hash_step(state, byte)))
}

fn hash(piece: &str) -> u32 {
    hash_bytes(piece.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "[UNK]\nun\n##aff\n##able\naff\n##\n#\n";

    #[test]
    fn a_word_is_whole_or_unknown() {
        let vocabulary = Vocabulary::new(SMALL).unwrap();
        let split = |word: &str| {
            let mut ids = vec![9];
            vocabulary.split(word, 100, &mut ids);
            ids
        };
        assert_eq!(split("unaffable"), [9, 1, 2, 3]);
        assert_eq!([split("unaffablex"), split(&"un".repeat(51))], [[9, 0], [9, 0]]);
    }

    #[test]
    fn windows_line_ends_do_not_matter() {
        let vocabulary = Vocabulary::new("[UNK]\r\na\r\n##b\r\n").unwrap();
        assert_eq!((vocabulary.id("a"), vocabulary.id("##b"), vocabulary.token(2)), (Some(1), Some(2), Some("##b")));
    }

    #[test]
    fn a_vocabulary_without_the_unknown_token_is_refused() {
        assert_eq!(Vocabulary::new("a\nb").unwrap_err(), VocabularyError::NoUnknownToken { tokens: 2 });
        assert_eq!(Vocabulary::new("").unwrap_err(), VocabularyError::NoUnknownToken { tokens: 1 });
    }

    #[test]
    fn a_token_longer_than_the_window_is_still_found() {
        let long = "a".repeat(90);
        let text: &'static str = Box::leak(format!("[UNK]\na\n{long}").into_boxed_str());
        let vocabulary = Vocabulary::new(text).unwrap();
        let mut ids = Vec::new();
        vocabulary.split(&long, 100, &mut ids);
        assert_eq!(ids, [2]);
    }
}
