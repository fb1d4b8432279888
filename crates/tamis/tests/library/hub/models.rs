//! Models of a few kilobytes, made by `lab/references/tiny_models.py`, as repositories of a hub.

#![allow(dead_code)]

use super::server::Repository;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The models, and the vectors that NumPy computes with them.
pub struct Models {
    fixture: Value,
    files: BTreeMap<String, Vec<u8>>,
}

pub fn models() -> &'static Models {
    static MODELS: OnceLock<Models> = OnceLock::new();
    MODELS.get_or_init(|| {
        let fixture: Value = serde_json::from_str(include_str!("../fixtures/tiny_models.json")).expect("JSON");
        let bytes = |text: &str| -> Vec<u8> {
            let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
            (0..text.len()).step_by(2).map(digit).collect()
        };
        let files = fixture["files"].as_object().expect("files").iter();
        let files = files.map(|(name, text)| (name.clone(), bytes(text.as_str().expect("text")))).collect();
        Models { fixture, files }
    })
}

impl Models {
    pub fn file(&self, name: &str) -> &[u8] {
        &self.files[name]
    }

    pub fn config(&self) -> Value {
        self.fixture["config"].clone()
    }

    /// The vector of a text under a table.
    pub fn of_table(&self, table: &str, text: &str) -> Vec<f32> {
        vector(&self.fixture["vectors"][table][text])
    }

    /// The vector of a text under the transformer with a pooling.
    pub fn of_bert(&self, text: &str, pooling: &str) -> Vec<f32> {
        vector(&self.fixture["vectors"]["bert"][text][pooling])
    }
}

fn vector(value: &Value) -> Vec<f32> {
    let entries = value.as_array().unwrap_or_else(|| panic!("no vector: {value}"));
    entries.iter().map(|entry| entry.as_f64().expect("a number") as f32).collect()
}

/// A table as Model2Vec writes it.
pub fn table() -> Repository {
    let models = models();
    Repository::new(&[
        ("README.md", b"---\nlicense: mit\n---\n# A table\n"),
        ("config.json", br#"{"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": true}"#),
        ("tokenizer.json", models.file("tokenizer.json")),
        ("model.safetensors", models.file("table.safetensors")),
        ("onnx/model.onnx", b"another form of the same"),
    ])
}

/// A transformer as sentence-transformers writes it, with this pooling.
pub fn bert(pooling: &str) -> Repository {
    let models = models();
    let modules = json!([
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ]);
    let flag = match pooling {
        "cls" => "pooling_mode_cls_token".to_owned(),
        "lasttoken" => "pooling_mode_lasttoken".to_owned(),
        other => format!("pooling_mode_{other}_tokens"),
    };
    exported()
        .with("modules.json", modules.to_string().as_bytes())
        .with("1_Pooling/config.json", json!({"word_embedding_dimension": 8, flag: true}).to_string().as_bytes())
        .with("sentence_bert_config.json", br#"{"max_seq_length": 24, "do_lower_case": false}"#)
        .with("model.safetensors", models.file("bert.safetensors"))
}

/// The same transformer as others export it: ONNX in full and in 8 bits, and nothing about pooling and prompts.
pub fn exported() -> Repository {
    let models = models();
    Repository::new(&[
        ("config.json", models.config().to_string().as_bytes()),
        ("tokenizer.json", models.file("tokenizer.json")),
        ("onnx/model.onnx", models.file("bert.onnx")),
        ("onnx/model_quantized.onnx", models.file("bert-int8.onnx")),
    ])
}

/// A cross-encoder.
pub fn reader() -> Repository {
    let models = models();
    let mut config = models.config();
    config["architectures"] = json!(["BertForSequenceClassification"]);
    Repository::new(&[
        ("config.json", config.to_string().as_bytes()),
        ("tokenizer.json", models.file("tokenizer.json")),
        ("onnx/model.onnx", models.file("cross-encoder.onnx")),
    ])
}
