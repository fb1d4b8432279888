//! Measures searches on lists of questions with known answers.
//!
//! Each list in `lists/` names a tree of text and asks questions that a user of it might ask: most have expected files, written
//! down before any search, and the rest have no answer there. [`measure`] indexes the tree, asks every question on an index that
//! recorded nothing yet, and asks it again after other questions. [`Figures`] says how often the expected file was kept, how much
//! was kept, and how far the answers drifted. Run it with `cargo xtask questions`.

mod answers;
pub mod collection;
mod evidence;
mod exact;
mod figures;
pub mod fit;
pub mod history;
mod index;
mod list;
mod measure;
mod model;
pub mod other_words;
mod own_words;
pub mod place;
mod table;

pub use answers::Answered;
pub use evidence::{Places, write_evidence};
pub use exact::{ByForm, Served, ask_exactly, exact_table};
pub use figures::{Drift, Figures, Misses};
pub use index::{CACHE, IndexedTree};
pub use list::{List, Question, Source, Topic};
pub use measure::{Measured, PASTS, Series, foreign, measure};
pub use model::Model;
pub use place::Place;
pub use table::{drifts, misses, overview};
