//! The operations, one file each.

pub(crate) mod files;
pub(crate) mod grep;
pub(crate) mod outline;
pub(crate) mod pack;
pub(crate) mod recall;
pub(crate) mod related;
pub(crate) mod search;
