//! Copying registrations of namespaces, settings of a tree, and calibrated thresholds.

use super::report::{Compared, Written};
use crate::Error;
use std::collections::HashMap;
use tamis_store::{Calibration, Namespace, NewNamespace, Store};

/// The setting that holds the name of an index' own tree. A directory keeps its own.
const NAME: &str = "namespace";

/// Registers a namespace as the source has it. Returns `true` if that changed it.
pub(super) fn register(to: &dyn Store, namespace: &Namespace, known: Option<&Namespace>) -> Result<bool, Error> {
    if known.is_some_and(|known| is_same_registration(namespace, known)) {
        return Ok(false);
    }
    let Namespace { name, owner, shared, .. } = namespace.clone();
    to.put_namespace(&NewNamespace { name, owner, shared })?;
    Ok(true)
}

/// True if both are registered in the same way. They have the same tree, or no document would have been copied.
pub(super) fn is_same_registration(from: &Namespace, to: &Namespace) -> bool {
    (&from.owner, from.shared) == (&to.owner, to.shared)
}

/// Copies the settings of a tree, and compares them.
pub(super) fn copy(from: &dyn Store, to: &dyn Store, written: &mut Written) -> Result<Compared, Error> {
    let settings: Vec<(String, String)> = from.properties()?.into_iter().filter(|(name, _)| name != NAME).collect();
    let there: HashMap<String, String> = to.properties()?.into_iter().collect();
    for (name, value) in settings.iter().filter(|(name, value)| there.get(name) != Some(value)) {
        to.set_property(name, value)?;
        written.settings += 1;
    }
    let there: HashMap<String, String> = to.properties()?.into_iter().filter(|(name, _)| name != NAME).collect();
    let different = settings.iter().filter(|(name, value)| there.get(name) != Some(value)).count() as u64;
    Ok(Compared { from: settings.len() as u64, to: there.len() as u64, different })
}

/// Gives an index in a directory the name of its tree, if it has none.
pub(super) fn name_tree(to: &dyn Store, tree: &str) -> Result<(), Error> {
    if to.property(NAME)?.is_none() {
        to.set_property(NAME, tree)?;
    }
    Ok(())
}

/// The name of the tree of an index in a directory.
pub(super) fn tree(store: &dyn Store) -> Result<Option<String>, Error> {
    Ok(store.property(NAME)?)
}

/// Copies thresholds, of two for one language and model the later one, and compares them.
pub(super) fn copy_thresholds(from: &dyn Store, to: &dyn Store, written: &mut Written) -> Result<Compared, Error> {
    let key = |one: &Calibration| (one.language.clone(), one.provider.clone(), one.model.clone());
    let thresholds = from.calibrations()?;
    let known = |there: Vec<Calibration>| -> HashMap<_, Calibration> {
        there.into_iter().map(|one| (key(&one), one)).collect()
    };
    let is_there = |there: &HashMap<_, Calibration>, one: &Calibration| {
        there.get(&key(one)).is_some_and(|known| known == one || known.calibrated_at_ms > one.calibrated_at_ms)
    };
    let there = known(to.calibrations()?);
    let missing: Vec<Calibration> = thresholds.iter().filter(|one| !is_there(&there, one)).cloned().collect();
    if !missing.is_empty() {
        to.put_calibrations(&missing)?;
        written.thresholds += missing.len() as u64;
    }
    let there = known(to.calibrations()?);
    let different = thresholds.iter().filter(|one| !is_there(&there, one)).count() as u64;
    Ok(Compared { from: thresholds.len() as u64, to: there.len() as u64, different })
}
