a// A licence notice that belongs to nobody.

//! A shelf of books.
//!
//! Books are kept by title.

use std::collections::BTreeMap;
use std::fmt;

/// Most books on one shelf.
pub const CAPACITY: usize = 40;
const SPARE: usize = 2;
static NAME: &str = "oak";

/// Why a book was refused.
#[derive(Debug)]
pub enum Refusal {
    Full { capacity: usize },
    Damaged,
}

/// Where books stand.
#[derive(Debug, Default)]
pub struct Shelf<'a> {
    books: BTreeMap<&'a str, u32>,
}

impl<'a> Shelf<'a> {
    /// The label on its side.
    pub const LABEL: &'static str = "A";

    /// Puts a book on the shelf.
    ///
    /// # Errors
    ///
    /// When there is no room.
    #[must_use = "a refused book is still in your hand"]
    pub fn put(&mut self, title: &'a str, pages: u32) -> Result<(), Refusal> {
        if self.books.len() >= CAPACITY {
            return Err(Refusal::Full { capacity: CAPACITY });
        }
        self.books.insert(title, pages);
        Ok(())
    }

    pub fn len(&self) -> usize { self.books.len() }
    pub fn is_empty(&self) -> bool { self.len() == 0 }
}

impl fmt::Display for Shelf<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} books", self.books.len())
    }
}

unsafe impl Send for Refusal {}

pub type Titles = Vec<String>;

/// What can be counted.
pub trait Count {
    /// How many.
    fn count(&self) -> usize;

    /// Whether there is one at all.
    fn any(&self) -> bool {
        self.count() > 0
    }
}

macro_rules! shelf {
    ($($title:literal),*) => {{
        let mut shelf = Shelf::default();
        $(let _ = shelf.put($title, 1);)*
        shelf
    }};
}

mod lending {
    //! Books that are out.

    /// Who has it.
    pub struct Loan(pub String);

    pub fn lend(reader: &str) -> Loan {
        Loan(reader.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_when_full() {
        let shelf = shelf!["a", "b"];
        assert_eq!(shelf.len(), 2);
    }
}
