//! The library's errors as the exceptions of `tamis.errors`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tamis::Error;
use tamis::evaluate::EvaluationError;
use tamis::lists::ListError;
use tamis::search::AimError;
use tamis_cut::{Orientation, RuleError};
use tamis_store::StoreError;

/// An exception of the package by its name.
pub fn exception(py: Python<'_>, class: &str, message: &str) -> PyErr {
    made(py, class, message, None).unwrap_or_else(|error| error)
}

/// A parameter that is not allowed: its name, the value received, and what is allowed.
pub fn parameter(py: Python<'_>, name: &str, value: &str, allowed: &str) -> PyErr {
    argument_error(py, name, value, allowed, &format!("{name} = {value}: must be {allowed}"))
}

/// [`parameter`] in words of its own.
pub fn argument_error(py: Python<'_>, name: &str, value: &str, allowed: &str, message: &str) -> PyErr {
    made(py, "ParameterError", message, Some([name, value, allowed])).unwrap_or_else(|error| error)
}

fn made(py: Python<'_>, class: &str, message: &str, parameter: Option<[&str; 3]>) -> PyResult<PyErr> {
    let class = py.import("tamis.errors")?.getattr(class)?;
    let fields = PyDict::new(py);
    for (name, value) in ["parameter", "value", "allowed"].into_iter().zip(parameter.iter().flatten()) {
        fields.set_item(name, value)?;
    }
    Ok(PyErr::from_value(class.call((message,), Some(&fields))?))
}

/// A method, which the argument `method` names, or one of its parameters that is not allowed.
pub fn of_rule(py: Python<'_>, error: &RuleError, method: &str) -> PyErr {
    let message = error.to_string();
    match error {
        RuleError::UnknownMethod { name, allowed, .. } => {
            argument_error(py, method, name, &allowed.join(", "), &message)
        }
        RuleError::UnknownParameter { name, allowed, .. } => {
            argument_error(py, name, "", &allowed.join(", "), &message)
        }
        RuleError::NotAssigned { part, .. } => argument_error(py, method, part, "PARAM=VALUE", &message),
        RuleError::Repeated { parameter, .. } => argument_error(py, parameter, "", "given once", &message),
        RuleError::OutOfRange { parameter, value, range, .. } => {
            argument_error(py, parameter, value, &range.to_string(), &message)
        }
        RuleError::OutOfOrder { low, low_value, high_value, .. } => {
            argument_error(py, low, &low_value.to_string(), &format!("at most {high_value}"), &message)
        }
        _ => exception(py, "ParameterError", &message),
    }
}

/// An aim that a method does not have. The argument `method` names the method.
pub fn of_aim(py: Python<'_>, error: &AimError, method: &str) -> PyErr {
    match error {
        AimError::NotAllowed(error) => of_rule(py, error, method),
        AimError::NoSuchAim { aim, able, .. } => {
            argument_error(py, aim, "", &format!("used with {able}"), &error.to_string())
        }
    }
}

/// A list that cannot be cut. `place` is what comes before its name, such as `list 3: `.
pub fn of_list(py: Python<'_>, error: &ListError, place: &str) -> PyErr {
    let refused = |name: &str, value: &str, allowed: &str, message: String| {
        argument_error(py, name, value, allowed, &format!("{place}{message}"))
    };
    match error {
        ListError::Unsorted { position, value, previous, orientation } => {
            let better = if *orientation == Orientation::Score { "higher" } else { "lower" };
            let message = format!(
                "scores[{position}] = {value}: better than {previous} before it ({better} is better); give the scores best \
                 first, or pass sort=True"
            );
            refused("scores", &value.to_string(), "best first", message)
        }
        ListError::NoSimilarity { method } => {
            refused("similarity", "", "given", format!("similarity: the method {method} needs it; pass similarity="))
        }
        ListError::NoLength { .. } => refused(
            "tokens",
            "",
            "given",
            "tokens: a budget needs the length of each entry; pass tokens= or texts=".into(),
        ),
        ListError::Sample(reason) => {
            refused("background", "", "a sample like the list", format!("background: {reason}"))
        }
        error => exception(py, "ParameterError", &format!("{place}{error}")),
    }
}

/// An operation on an index that failed.
pub fn of_index(py: Python<'_>, error: &Error) -> PyErr {
    // The arguments of Python, in place of the names that Rust has for them.
    let message = error.to_string().replace("IndexBuilder::set", "settings");
    let class = match error {
        Error::Argument { name, value, allowed } => return argument_error(py, name, value, allowed, &message),
        Error::Aim(error) => return of_aim(py, error, "cut"),
        Error::Cancelled => "Cancelled",
        Error::Config(_) => "ConfigError",
        Error::NotFound { .. }
        | Error::NoIssues { .. }
        | Error::LeftOut { .. }
        | Error::Ambiguous { .. }
        | Error::Path { .. } => "NotFoundError",
        Error::Model { .. } | Error::Embed(_) | Error::NoVectors { .. } | Error::NotEmbedded { .. } => "ModelError",
        Error::Guarantee { .. } => "GuaranteeError",
        Error::Store(StoreError::Busy { .. }) => "BusyError",
        Error::Store(StoreError::Unavailable { .. } | StoreError::WriterLost { .. }) => "UnavailableError",
        Error::Store(StoreError::Missing { .. }) => "NotFoundError",
        Error::Store(StoreError::Glob { glob, reason }) => return argument_error(py, "paths", glob, reason, &message),
        Error::Store(StoreError::Invalid { .. }) => "ParameterError",
        Error::Store(_) | Error::NotPublished { .. } | Error::IndexDirectory { .. } => "StoreError",
        _ => "TamisError",
    };
    exception(py, class, &message)
}

/// An evaluation that failed.
pub fn of_evaluation(py: Python<'_>, error: &EvaluationError) -> PyErr {
    match error {
        EvaluationError::Index(error) => of_index(py, error),
        EvaluationError::Interrupted => exception(py, "Cancelled", &error.to_string()),
        EvaluationError::Cut { specification, .. } => argument_error(py, "cuts", specification, "", &error.to_string()),
        error => exception(py, "ParameterError", &error.to_string()),
    }
}
