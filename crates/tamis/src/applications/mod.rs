//! What is built on the pipeline: each application asks the index, the search and the imports, and none of those knows it.

pub mod calibrate;
pub mod duplicates;
pub mod evaluate;
#[cfg(feature = "evidence")]
pub mod evidence;
pub mod feedback;
pub mod judge;
pub mod memory;
pub mod related;
mod stored_issue;
pub mod telemetry;
pub mod troubleshoot;
