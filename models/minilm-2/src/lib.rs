//! Part 2 of 3 of the weights of all-MiniLM-L6-v2 as int8, for `tamis-embed`, which joins the three when it is compiled.
//!
//! The crate holds data alone. The README says where it comes from and under which licence.
#![no_std]

/// Bytes of the file `minilm-l6-v2-int8.safetensors`, a third of it.
pub static PART: &[u8] = include_bytes!("../minilm-l6-v2-int8.safetensors.2");
