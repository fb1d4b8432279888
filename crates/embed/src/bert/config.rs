//! The part of a model's `config.json` that shapes its graph.

use serde::Deserialize;

/// The shape of a BERT encoder, with the names of the usual `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Config {
    #[serde(default)]
    pub(crate) model_type: String,
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) max_position_embeddings: usize,
    #[serde(default = "default_activation")]
    pub(crate) hidden_act: String,
    #[serde(default = "default_epsilon")]
    pub(crate) layer_norm_eps: f32,
    #[serde(default = "default_positions")]
    pub(crate) position_embedding_type: String,
}

fn default_activation() -> String {
    "gelu".to_owned()
}

fn default_epsilon() -> f32 {
    1e-12
}

fn default_positions() -> String {
    "absolute".to_owned()
}

impl Config {
    /// Returns the shape of all-MiniLM-L6-v2.
    #[cfg(any(feature = "minilm", test))]
    pub(crate) fn minilm() -> Self {
        Self {
            model_type: "bert".to_owned(),
            hidden_size: 384,
            num_hidden_layers: 6,
            num_attention_heads: 12,
            max_position_embeddings: 512,
            hidden_act: default_activation(),
            layer_norm_eps: default_epsilon(),
            position_embedding_type: default_positions(),
        }
    }

    /// Reads a `config.json` and checks that this crate can build the graph it describes.
    ///
    /// # Errors
    /// A part is missing or unsupported. The message names it and the supported values.
    pub(crate) fn from_json(json: &[u8]) -> Result<Self, String> {
        let config: Self = serde_json::from_slice(json).map_err(|error| format!("config.json: {error}"))?;
        let expect = |ok: bool, found: String, allowed: &str| {
            if ok { Ok(()) } else { Err(format!("config.json has {found}; supported is {allowed}")) }
        };
        expect(config.model_type == "bert", format!("model_type {:?}", config.model_type), "\"bert\"")?;
        expect(
            matches!(config.hidden_act.as_str(), "gelu" | "relu"),
            format!("hidden_act {:?}", config.hidden_act),
            "\"gelu\" and \"relu\"",
        )?;
        expect(
            config.position_embedding_type == "absolute",
            format!("position_embedding_type {:?}", config.position_embedding_type),
            "\"absolute\"",
        )?;
        expect(
            config.num_attention_heads > 0 && config.hidden_size.is_multiple_of(config.num_attention_heads),
            format!("hidden_size {} and num_attention_heads {}", config.hidden_size, config.num_attention_heads),
            "a size that the heads divide",
        )?;
        expect(
            config.hidden_size > 0 && config.num_hidden_layers > 0 && config.max_position_embeddings > 2,
            format!(
                "hidden_size {}, num_hidden_layers {}, max_position_embeddings {}",
                config.hidden_size, config.num_hidden_layers, config.max_position_embeddings
            ),
            "sizes above zero",
        )?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_file_is_read_and_the_rest_defaulted() {
        let json = br#"{"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
            "max_position_embeddings": 512, "vocab_size": 30522}"#;
        assert_eq!(Config::from_json(json), Ok(Config::minilm()));
    }

    #[test]
    fn unsupported_shapes_are_named() {
        let base = r#"{"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
            "max_position_embeddings": 16, "hidden_act": "gelu"}"#;
        assert!(Config::from_json(base.as_bytes()).is_ok());
        for (from, to, named) in [
            ("\"bert\"", "\"roberta\"", "roberta"),
            ("\"gelu\"", "\"silu\"", "silu"),
            ("heads\": 2", "heads\": 3", "num_attention_heads 3"),
            ("heads\": 2", "heads\": 0", "num_attention_heads 0"),
            ("layers\": 1", "layers\": 0", "num_hidden_layers 0"),
            ("\"hidden_size\": 8,", "", "hidden_size"),
        ] {
            let message = Config::from_json(base.replace(from, to).as_bytes()).unwrap_err();
            assert!(message.contains(named), "{message}");
        }
    }
}
