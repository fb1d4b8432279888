//! The models in the crate, described without loading them.

use serde::Serialize;

use crate::Provider;

/// A model that comes with the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BuiltInModel {
    /// Stable identifier, as in [`ModelInfo::id`](crate::ModelInfo::id).
    pub id: &'static str,
    /// The kind of model.
    pub provider: Provider,
    /// Length of every vector.
    pub dimension: usize,
    /// Licence of the weights, an SPDX expression.
    pub license: &'static str,
}

/// The models of this build.
pub const BUILT_IN_MODELS: &[BuiltInModel] = &[
    BuiltInModel { id: crate::token_table::ID, provider: Provider::Static, dimension: 256, license: "Apache-2.0" },
    #[cfg(feature = "minilm")]
    BuiltInModel { id: crate::minilm::ID, provider: Provider::MiniLm, dimension: 384, license: "Apache-2.0" },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Embedder, StaticModel};
    use std::path::Path;

    fn described(provider: Provider) -> BuiltInModel {
        *BUILT_IN_MODELS.iter().find(|model| model.provider == provider).expect("a built-in model")
    }

    #[test]
    fn the_descriptions_agree_with_the_models() {
        let info = StaticModel::built_in().model();
        let model = described(Provider::Static);
        assert_eq!((model.id, model.dimension), (info.id.as_str(), info.dimension));
        #[cfg(feature = "minilm")]
        {
            let info = crate::MiniLm::built_in().expect("loaded").model();
            let model = described(Provider::MiniLm);
            assert_eq!((model.id, model.dimension), (info.id.as_str(), info.dimension));
        }
    }

    #[test]
    fn the_licences_are_those_of_the_crates_with_the_weights() {
        let crates = [(Provider::Static, "static"), (Provider::MiniLm, "minilm-1")];
        for (provider, directory) in crates {
            let Some(model) = BUILT_IN_MODELS.iter().find(|model| model.provider == provider) else { continue };
            let manifest = format!("../../models/{directory}/Cargo.toml");
            let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest);
            let text = std::fs::read_to_string(&manifest).expect("the manifest of the checkout");
            assert!(text.contains(&format!("license = \"{}\"", model.license)), "{}", manifest.display());
        }
    }
}
