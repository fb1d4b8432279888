//! The extension module of the Python package `tamis`: the library behind Python's types.
//!
//! `cut` and `cut_many` cut lists, which `scores` reads without a copy where it can; `rule` turns a method and keyword arguments into a
//! rule. `index` holds an open index and gives its answers as JSON, of which the package's own files make dataclasses. `interruptible`
//! waits for long calls so that Ctrl-C works. `evaluate` measures a run, and `command` is the program `tamis`.

mod background;
mod command;
mod cut;
mod cut_many;
mod error;
mod evaluate;
mod index;
mod interruptible;
mod request;
mod result;
mod rule;
mod scores;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _tamis {
    #[pymodule_export]
    use crate::background::{Background, background};
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::cut::cut;
    #[pymodule_export]
    use crate::cut_many::{Cuts, cut_many, pickled_cuts};
    #[pymodule_export]
    use crate::evaluate::{Evaluation, evaluate};
    #[pymodule_export]
    use crate::index::PyIndex;
    #[pymodule_export]
    use crate::interruptible::Refresh;
    #[pymodule_export]
    use crate::result::{Cut, pickled_cut, plot};
    #[pymodule_export]
    use crate::rule::methods;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
