//! Models by the names that configuration and people use, each loaded once and when first needed.

use crate::Error;
use crate::config::{Config, ModelDefinition, Provider};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use tamis_embed::{Embedder, MiniLm, Purpose, StaticModel};

/// The models of a configuration.
pub struct Models {
    definitions: BTreeMap<String, ModelDefinition>,
    loaded: Mutex<HashMap<String, Arc<dyn Embedder>>>,
}

impl Models {
    /// No model is loaded yet.
    pub fn new(config: &Config) -> Self {
        Models { definitions: config.models.clone(), loaded: Mutex::default() }
    }

    /// The model called `name`, loaded if it is not.
    ///
    /// # Errors
    /// No model has that name, or its files or settings are not usable.
    pub fn get(&self, name: &str) -> Result<Arc<dyn Embedder>, Error> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = loaded.get(name) {
            return Ok(model.clone());
        }
        let model = self.load(name)?;
        loaded.insert(name.to_owned(), model.clone());
        Ok(model)
    }

    /// The identifier under which the vectors of the model called `name` are stored. The built-in models are not loaded
    /// for it.
    ///
    /// # Errors
    /// As [`Models::get`].
    pub fn id(&self, name: &str) -> Result<String, Error> {
        Ok(match name {
            "static" => StaticModel::built_in().model().id.clone(),
            "minilm" => MiniLm::info().id,
            name => self.get(name)?.model().id.clone(),
        })
    }

    fn load(&self, name: &str) -> Result<Arc<dyn Embedder>, Error> {
        match name {
            "static" => return Ok(Arc::new(StaticModel::built_in())),
            "minilm" => return Ok(Arc::new(MiniLm::load(Purpose::Query)?)),
            _ => {}
        }
        let definition = self.definitions.get(name).ok_or_else(|| {
            let known: Vec<&str> =
                ["static", "minilm"].into_iter().chain(self.definitions.keys().map(String::as_str)).collect();
            Error::argument("model", format!("{name:?}"), format!("one of {}", known.join(", ")))
        })?;
        let _ = definition;
        todo!()
    }
}

/// The similarity from which an answer of a model is about the query whatever the corpus, where it was measured.
pub(crate) fn reference(id: &str) -> Option<f64> {
    let _ = id;
    None
}
