//! Applications built on the pipeline. They use the index, the search and the imports, which know nothing of them.

pub mod calibrate;
pub mod duplicates;
pub mod evaluate;
#[cfg(feature = "evidence")]
pub mod evidence;
pub mod feedback;
pub mod lists;
pub mod memory;
pub mod pack;
pub mod related;
mod stored_issue;
pub mod telemetry;
pub mod tree;
pub mod troubleshoot;
