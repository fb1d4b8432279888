//! Likely duplicates of an issue, which can be none.
//!
//! Both legs propose issues (`search::issues`), `likeness` says how alike two are, `run` orders and cuts, `answer` is what
//! comes out. How the measure and its floor were chosen is in `docs/research/duplicates.md`.

mod answer;
mod likeness;
mod run;

pub use answer::{ConsideredDuplicate, DuplicateQuestion, Duplicates, DuplicatesRequest};
