//! A method with keyword arguments as a rule. Names and ranges come from the registry of methods.

use crate::error;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use std::sync::{Arc, Mutex, PoisonError};
use tamis::search::{Aim, TunedRule};
use tamis_cut::{METHODS, Range, Value, Want, build, parse};

/// The most rules kept for the next call.
const MOST_KEPT: usize = 32;

/// A method and the amount wanted, as they are given.
type Key = (String, Option<String>);

/// The rules of the last calls without parameters, since making one takes longer than to cut a short list.
static KEPT: Mutex<Vec<(Key, Arc<TunedRule>)>> = Mutex::new(Vec::new());

/// The rule for a method with its parameters, and the amount wanted.
pub fn rule(
    py: Python<'_>,
    method: &str,
    want: Option<&str>,
    parameters: Option<&Bound<'_, PyDict>>,
) -> PyResult<Arc<TunedRule>> {
    if let Some(parameters) = parameters.filter(|parameters| !parameters.is_empty()) {
        return made(py, method, want, Some(parameters)).map(Arc::new);
    }
    let is_asked = |(method_kept, want_kept): &Key| method_kept == method && want_kept.as_deref() == want;
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, rule)) = kept().iter().find(|(key, _)| is_asked(key)) {
        return Ok(rule.clone());
    }
    let rule = Arc::new(made(py, method, want, None)?);
    let mut kept = kept();
    if kept.len() == MOST_KEPT {
        kept.remove(0);
    }
    kept.push(((method.to_owned(), want.map(str::to_owned)), rule.clone()));
    Ok(rule)
}

fn made(
    py: Python<'_>,
    method: &str,
    want: Option<&str>,
    parameters: Option<&Bound<'_, PyDict>>,
) -> PyResult<TunedRule> {
    let wanted = match want {
        None => Want::Auto,
        Some(word) => word.parse().map_err(|_| {
            error::parameter(py, "want", &format!("{word:?}"), &format!("one of {}", Want::NAMES.join(", ")))
        })?,
    };
    let mut rule = parse(method).map_err(|error| error::of_rule(py, &error, "method"))?;
    if let Some(parameters) = parameters {
        let given = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let name: String = name.extract()?;
            // `lambda` is a word of Python's own.
            Ok((if name == "lambda_" { "lambda".to_owned() } else { name }, read(&value)?))
        };
        let given: Vec<(String, Value)> = parameters.iter().map(given).collect::<PyResult<_>>()?;
        let mut settings: Vec<(&str, Value)> = rule.settings();
        for (name, value) in &given {
            match settings.iter_mut().find(|(known, _)| known == name) {
                Some(setting) => setting.1 = value.clone(),
                None => settings.push((name, value.clone())),
            }
        }
        rule = build(rule.name(), settings).map_err(|error| error::of_rule(py, &error, "method"))?;
    }
    TunedRule::new(rule.as_ref(), wanted, &Aim::default()).map_err(|error| error::of_aim(py, &error, "method"))
}

/// A parameter's value. The range of the parameter refuses what has no business there.
fn read(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Flag(flag.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::from(text.to_string()));
    }
    if let Ok(integer) = value.extract::<i64>() {
        return Ok(Value::Integer(integer));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(Value::Number(number));
    }
    Ok(Value::from(value.repr()?.to_string()))
}

/// The methods: name, summary, and for each parameter its name, meaning, allowed values and default.
#[pyfunction]
pub fn methods(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let described = |method: &tamis_cut::Method| {
        let described = PyDict::new(py);
        described.set_item("name", method.name)?;
        described.set_item("summary", method.summary)?;
        let parameters = method.parameters.iter().map(|parameter| {
            let described = PyDict::new(py);
            described.set_item("name", parameter.name)?;
            described.set_item("meaning", parameter.doc)?;
            described.set_item("allowed", parameter.range.to_string())?;
            described.set_item("default", object(py, &parameter.default())?)?;
            if let Range::Choice(words) = parameter.range {
                described.set_item("choices", words)?;
            }
            Ok(described)
        });
        described.set_item("parameters", parameters.collect::<PyResult<Vec<_>>>()?)?;
        Ok(described)
    };
    METHODS.iter().map(|method| described(method)).collect()
}

/// A value as Python has it.
pub fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Flag(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Integer(integer) => integer.into_pyobject(py)?.into_any(),
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
    })
}
