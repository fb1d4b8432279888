//! Part 1 of 2 of the weights of Tamis' judge, a small cross-encoder, as int8, for `tamis-embed`, which joins the two when it is
//! compiled.
//!
//! The crate holds data alone. The README says where it comes from and under which licence.
#![no_std]

/// Bytes of the file `judge-int8.safetensors`, a half of it.
pub static PART: &[u8] = include_bytes!("../judge-int8.safetensors.1");
