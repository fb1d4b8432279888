//! The cut methods, one file each.

pub(crate) mod adaptive_k;
pub(crate) mod autocut;
pub(crate) mod background;
pub(crate) mod elbow;
pub(crate) mod fixed;
pub(crate) mod kneedle;
pub(crate) mod language;
pub(crate) mod max_gap;
pub(crate) mod otsu;
pub(crate) mod percentile;
pub(crate) mod relative;
pub(crate) mod top_score;
