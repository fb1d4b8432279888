//! The server through its public face: one program, so that what it links is linked once.

mod fuzz_inputs;
mod isolation;
mod opened;
mod support;
