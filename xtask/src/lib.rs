//! What the chores share with the programs of `lab/`: running programs, a PostgreSQL of one's own, and the sandboxes of `torture`.

#[cfg(unix)]
pub mod postgres;
pub mod run;
#[cfg(unix)]
pub mod torture;
