//! The languages that are divided by their symbols, a file each: names, files, and the grammar with its queries.

pub(super) mod c;
mod class_macros;
pub(super) mod components;
pub(super) mod cpp;
pub(super) mod csharp;
pub(super) mod elixir;
mod function_macros;
pub(super) mod go;
pub(super) mod haskell;
pub(super) mod hcl;
pub(super) mod java;
pub(super) mod javascript;
pub(super) mod kotlin;
pub(super) mod lua;
mod magics;
pub(super) mod php;
pub(super) mod protobuf;
pub(super) mod python;
pub(super) mod ruby;
pub(super) mod rust;
pub(super) mod scala;
pub(super) mod shell;
pub(super) mod sql;
mod sql_procedures;
pub(super) mod swift;
pub(super) mod typescript;
pub(super) mod zig;

/// A grammar that is built in with the feature of its name.
macro_rules! grammar {
    ($feature:literal, $grammar:expr) => {{
        #[cfg(feature = $feature)]
        {
            $crate::languages::language::Parsing::Grammar(|| {
                static GRAMMAR: Grammar = $grammar;
                &GRAMMAR
            })
        }
        #[cfg(not(feature = $feature))]
        {
            $crate::languages::language::Parsing::NotBuilt
        }
    }};
}
use grammar;
