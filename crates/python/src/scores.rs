//! Lists of numbers as Python programs have them: arrays without a copy where their numbers are floats that lie side by side, and
//! anything else that can be read in order.

use crate::error;
use numpy::{PyArrayDyn, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// A list of scores.
pub enum Scores<'py> {
    Doubles(PyReadonlyArray1<'py, f64>),
    Singles(PyReadonlyArray1<'py, f32>),
    Read(Vec<f64>),
}

/// The numbers of a list, for work without the interpreter.
#[derive(Clone, Copy)]
pub enum Numbers<'a> {
    Doubles(&'a [f64]),
    Singles(&'a [f32]),
}

impl Numbers<'_> {
    pub fn len(&self) -> usize {
        match self {
            Numbers::Doubles(numbers) => numbers.len(),
            Numbers::Singles(numbers) => numbers.len(),
        }
    }

    pub fn at(&self, position: usize) -> f64 {
        match self {
            Numbers::Doubles(numbers) => numbers[position],
            Numbers::Singles(numbers) => f64::from(numbers[position]),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = f64> + Clone {
        (0..self.len()).map(|position| self.at(position))
    }
}

impl<'py> Scores<'py> {
    /// Reads a list of numbers. `name` is the argument, for errors.
    pub fn from_object(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Scores<'py>> {
        if let Ok(list) = object.cast::<PyList>() {
            return numbers(name, list.len(), list.iter()).map(Scores::Read);
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return numbers(name, tuple.len(), tuple.iter()).map(Scores::Read);
        }
        match array(object)? {
            Some(array) => Scores::of_array(name, &array),
            None => {
                let length = object.len().unwrap_or_default();
                let entries = object.try_iter().map_err(|_| not_numbers(object, name))?;
                let entries = entries.collect::<PyResult<Vec<_>>>()?;
                numbers(name, length, entries.into_iter()).map(Scores::Read)
            }
        }
    }

    fn of_array(name: &str, array: &Bound<'py, PyAny>) -> PyResult<Scores<'py>> {
        if let Ok(doubles) = array.extract::<PyReadonlyArray1<'py, f64>>() {
            return Ok(match doubles.as_slice() {
                Ok(_) => Scores::Doubles(doubles),
                Err(_) => Scores::Read(doubles.as_array().iter().copied().collect()),
            });
        }
        if let Ok(singles) = array.extract::<PyReadonlyArray1<'py, f32>>() {
            return Ok(match singles.as_slice() {
                Ok(_) => Scores::Singles(singles),
                Err(_) => Scores::Read(singles.as_array().iter().copied().map(f64::from).collect()),
            });
        }
        let dimensions = array.cast::<PyUntypedArray>().map_or(1, |array| array.ndim());
        if dimensions != 1 {
            let message = format!(
                "{name}: {dimensions} dimensions: must be a list of numbers; use tamis.cut_many for many lists"
            );
            return Err(error::argument_error(
                array.py(),
                name,
                &format!("{dimensions} dimensions"),
                "one dimension",
                &message,
            ));
        }
        Ok(Scores::Read(
            as_doubles(name, array)?.extract::<PyReadonlyArray1<'py, f64>>()?.as_array().iter().copied().collect(),
        ))
    }

    /// The numbers.
    pub fn numbers(&self) -> Numbers<'_> {
        match self {
            Scores::Doubles(array) => Numbers::Doubles(array.as_slice().unwrap_or_default()),
            Scores::Singles(array) => Numbers::Singles(array.as_slice().unwrap_or_default()),
            Scores::Read(numbers) => Numbers::Doubles(numbers),
        }
    }
}

/// Many lists of scores.
pub enum Batch<'py> {
    Doubles(PyReadonlyArray2<'py, f64>),
    Singles(PyReadonlyArray2<'py, f32>),
    Lists(Vec<Scores<'py>>),
}

impl<'py> Batch<'py> {
    /// Reads many lists: an array of two dimensions, or anything that gives lists in order.
    pub fn from_object(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Batch<'py>> {
        let is_listed = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
        if let Some(array) = array(object)?.filter(|_| !is_listed)
            && let Some(batch) = Batch::of_array(name, &array)?
        {
            return Ok(batch);
        }
        let lists = object.try_iter().map_err(|_| not_numbers(object, name))?;
        let lists = lists.enumerate().map(|(at, list)| {
            let list = list?;
            if list.extract::<f64>().is_ok() {
                let message = format!("{name}: a list of numbers: must be a list of lists; use tamis.cut for one list");
                return Err(error::argument_error(list.py(), name, "a list of numbers", "a list of lists", &message));
            }
            Scores::from_object(&format!("{name}[{at}]"), &list)
        });
        lists.collect::<PyResult<_>>().map(Batch::Lists)
    }

    fn of_array(name: &str, array: &Bound<'py, PyAny>) -> PyResult<Option<Batch<'py>>> {
        if array.cast::<PyUntypedArray>().is_ok_and(|array| array.ndim() != 2) {
            return Ok(None);
        }
        if let Ok(doubles) = array.extract::<PyReadonlyArray2<'py, f64>>()
            && doubles.is_c_contiguous()
        {
            return Ok(Some(Batch::Doubles(doubles)));
        }
        if let Ok(singles) = array.extract::<PyReadonlyArray2<'py, f32>>()
            && singles.is_c_contiguous()
        {
            return Ok(Some(Batch::Singles(singles)));
        }
        let doubles = as_doubles(name, array)?.call_method1("copy", ("C",))?;
        Ok(Some(Batch::Doubles(doubles.extract::<PyReadonlyArray2<'py, f64>>()?)))
    }

    /// The numbers of each list.
    pub fn numbers(&self) -> Vec<Numbers<'_>> {
        fn rows<T>(all: &[T], shape: &[usize]) -> Vec<std::ops::Range<usize>> {
            debug_assert_eq!(all.len(), shape[0] * shape[1]);
            (0..shape[0]).map(|row| row * shape[1]..(row + 1) * shape[1]).collect()
        }
        match self {
            Batch::Doubles(array) => {
                let all = array.as_slice().unwrap_or_default();
                rows(all, array.shape()).into_iter().map(|row| Numbers::Doubles(&all[row])).collect()
            }
            Batch::Singles(array) => {
                let all = array.as_slice().unwrap_or_default();
                rows(all, array.shape()).into_iter().map(|row| Numbers::Singles(&all[row])).collect()
            }
            Batch::Lists(lists) => lists.iter().map(Scores::numbers).collect(),
        }
    }
}

/// Figures of which some entries may lack one: `None`, or a number that is none.
pub fn optional(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<Option<f64>>> {
    let checked = |position: usize, number: f64| match number {
        number if number.is_nan() => Ok(None),
        number if number.is_infinite() => {
            Err(error::parameter(object.py(), &format!("{name}[{position}]"), &number.to_string(), "a finite number"))
        }
        number => Ok(Some(number)),
    };
    if let Ok(list) = object.cast::<PyList>() {
        return list
            .iter()
            .enumerate()
            .map(|(position, entry)| match entry.is_none() {
                true => Ok(None),
                false => checked(position, number(name, position, &entry)?),
            })
            .collect();
    }
    let scores = Scores::from_object(name, object)?;
    scores.numbers().iter().enumerate().map(|(position, number)| checked(position, number)).collect()
}

fn numbers<'py>(name: &str, length: usize, entries: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<Vec<f64>> {
    let mut numbers = Vec::with_capacity(length);
    for (position, entry) in entries.enumerate() {
        numbers.push(number(name, position, &entry)?);
    }
    Ok(numbers)
}

fn number(name: &str, position: usize, entry: &Bound<'_, PyAny>) -> PyResult<f64> {
    entry.extract().map_err(|_| {
        let shown = entry.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        let shown = if shown.chars().count() > 60 { "a list or an object".to_owned() } else { shown };
        error::parameter(entry.py(), &format!("{name}[{position}]"), &shown, "a number")
    })
}

fn not_numbers(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let kind = object.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    error::parameter(object.py(), name, &kind, "a list or an array of numbers")
}

/// The object as an array of NumPy, if it is one or makes one of itself, as series and tensors do.
fn array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let kind = object.get_type();
    // NumPy is not asked for before something of it comes along: it may be missing.
    if kind.module().is_ok_and(|module| module == "numpy") && object.cast::<PyUntypedArray>().is_ok() {
        return Ok(Some(object.clone()));
    }
    if !object.hasattr("__array__")? {
        return Ok(None);
    }
    let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
    Ok(array.cast::<PyArrayDyn<f64>>().is_ok().then(|| array.clone()).or(Some(array)))
}

/// An array of other numbers, or of numbers in another layout, as doubles.
fn as_doubles<'py>(name: &str, array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let dtype = array.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    if !["b", "i", "u", "f"].contains(&kind.as_str()) {
        return Err(error::parameter(array.py(), name, &format!("an array of {dtype}"), "numbers"));
    }
    array.call_method1("astype", ("float64",))
}
