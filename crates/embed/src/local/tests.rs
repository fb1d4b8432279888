//! Tests with models small enough to be made here.

use std::collections::HashMap;
use std::fs;

use safetensors::tensor::{Dtype, TensorView};
use tempfile::TempDir;

use super::*;
use crate::bert::graph::{Element, Graph};
use crate::dot;

pub const WORDS: [&str; 8] = ["[UNK]", "[CLS]", "[SEP]", "cat", "dog", "##s", "dim", "##ension"];

pub fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let vocabulary: HashMap<&str, usize> = WORDS.iter().enumerate().map(|(id, &word)| (word, id)).collect();
    let tokenizer = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "decoder": null,
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
            "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary},
    });
    write(&directory, "tokenizer.json", tokenizer.to_string().as_bytes());
    directory
}

pub fn write(directory: &TempDir, name: &str, bytes: &[u8]) {
    let path = directory.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Makes a safetensors file of f32 tensors.
fn tensors(tensors: &[(&str, &[usize], Vec<f32>)]) -> Vec<u8> {
    let bytes: Vec<Vec<u8>> =
        tensors.iter().map(|(_, _, values)| values.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
    let views = tensors
        .iter()
        .zip(&bytes)
        .map(|((name, shape, _), bytes)| (*name, TensorView::new(Dtype::F32, shape.to_vec(), bytes).unwrap()));
    safetensors::serialize(views, None).unwrap()
}

/// Makes numbers without a pattern, the same every time.
fn noise(seed: usize, count: usize) -> Vec<f32> {
    (0..count).map(|at| (((at + seed * 31) as f32 * 12.9898).sin() * 43_758.547).fract() * 0.5).collect()
}

/// Makes a BERT encoder of one layer and 8 dimensions.
fn bert(prefix: &str) -> Vec<u8> {
    let layer = "encoder.layer.0.";
    let mut parts: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![WORDS.len(), 8]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![16, 8]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, 8]),
    ];
    let mut linear = |name: &str, outputs: usize, inputs: usize| {
        parts.push((format!("{layer}{name}.weight"), vec![outputs, inputs]));
        parts.push((format!("{layer}{name}.bias"), vec![outputs]));
    };
    for part in ["query", "key", "value"] {
        linear(&format!("attention.self.{part}"), 8, 8);
    }
    linear("attention.output.dense", 8, 8);
    linear("intermediate.dense", 12, 8);
    linear("output.dense", 8, 12);
    for norm in ["embeddings", "encoder.layer.0.attention.output", "encoder.layer.0.output"] {
        parts.push((format!("{norm}.LayerNorm.weight"), vec![8]));
        parts.push((format!("{norm}.LayerNorm.bias"), vec![8]));
    }
    let parts: Vec<(String, Vec<usize>, Vec<f32>)> = parts
        .into_iter()
        .enumerate()
        .map(|(seed, (name, shape))| {
            let count = shape.iter().product();
            (format!("{prefix}{name}"), shape, noise(seed, count))
        })
        .collect();
    let views: Vec<(&str, &[usize], Vec<f32>)> =
        parts.iter().map(|(name, shape, values)| (name.as_str(), shape.as_slice(), values.clone())).collect();
    tensors(&views)
}

const CONFIG: &str = r#"{"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
    "max_position_embeddings": 16, "hidden_act": "gelu"}"#;

/// Makes a model whose token vectors are rows of a table, with or without the input for token types, which few models have.
fn onnx(token_types: bool, mask: &str) -> Vec<u8> {
    let mut graph = Graph::default();
    for input in ["input_ids", mask].into_iter().chain(token_types.then_some("token_type_ids")) {
        graph.input(input, Element::Int64, &["batch", "tokens"]);
    }
    let table = graph.integers(&[WORDS.len(), 2], &[0, 0, 0, 0, 0, 0, 3, 4, 5, 0, 0, 7, 1, 1, 0, 0]);
    let rows = graph.node("Gather", &[&table, "input_ids"], &[]);
    let rows = graph.node("Cast", &[&rows], &[("to", crate::bert::graph::Attribute::Int(1))]);
    graph.rename(&rows, "last_hidden_state");
    graph.output("last_hidden_state", Element::Float, &["batch", "tokens", "hidden"]);
    graph.finish("rows")
}

fn refused(directory: &TempDir) -> String {
    let message = LocalModel::open(directory.path()).unwrap_err().to_string();
    assert!(message.contains(&directory.path().display().to_string()), "{message}");
    message
}

#[test]
fn a_static_table_gives_means_of_its_rows() {
    let directory = directory();
    let rows = vec![9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 3.0, 0.0, 0.0, 4.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0];
    write(&directory, "model.safetensors", &tensors(&[("embeddings", &[8, 2], rows)]));
    let model = LocalModel::open(directory.path()).unwrap();
    assert_eq!((model.model().dimension, model.model().max_tokens), (2, None));
    let vectors = model.embed_passages(&["Cats", "dog unknown", "cat dog", "", "unknown"]).unwrap();
    assert_eq!(vectors, [vec![1.0, 0.0], vec![0.0, 1.0], vec![0.6, 0.8], vec![0.0; 2], vec![0.0; 2]]);
    assert_eq!(model.embed_query("cat dog").unwrap(), [0.6, 0.8]);
}

/// Makes a table of two rows in eight bits, with the row of each token.
fn mapped(rows: &[i64]) -> Vec<u8> {
    let rows_bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
    let table: Vec<u8> = [3i8, -4, 0, 100].iter().map(|&x| x as u8).collect();
    let weights: Vec<u8> = (0..rows.len()).flat_map(|at| (1.0 + at as f32).to_le_bytes()).collect();
    let views = [
        ("embeddings", TensorView::new(Dtype::I8, vec![2, 2], &table).unwrap()),
        ("mapping", TensorView::new(Dtype::I64, vec![rows.len()], &rows_bytes).unwrap()),
        ("weights", TensorView::new(Dtype::F32, vec![rows.len()], &weights).unwrap()),
    ];
    safetensors::serialize(views, None).unwrap()
}

#[test]
fn a_table_may_have_a_mapping_weights_and_eight_bits() {
    let directory = directory();
    write(&directory, "model.safetensors", &mapped(&[0, 0, 0, 0, 1, 1, 1, 1]));
    let model = LocalModel::open(directory.path()).unwrap();
    // `cat` is token 3 with weight 4, `dog` token 4 with weight 5.
    let both = [4.0 * 3.0, 4.0 * -4.0 + 5.0 * 100.0].map(|x: f32| x / 12f32.hypot(484.0));
    let vectors = model.embed_passages(&["cat", "dog", "cat dog"]).unwrap();
    for (vector, expected) in vectors.iter().zip([[0.6, -0.8], [0.0, 1.0], both]) {
        assert!((dot(vector, &expected) - 1.0).abs() < 1e-6, "{vector:?} {expected:?}");
    }
}

#[test]
fn prefixes_come_from_options_a_record_or_prompts() {
    let directory = directory();
    let rows = vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 4.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0];
    write(&directory, "model.safetensors", &tensors(&[("embeddings", &[8, 2], rows)]));
    let open = |options: &LocalOptions| LocalModel::open_with(directory.path(), options).unwrap();
    let plain = open(&LocalOptions::default());
    write(&directory, "config_sentence_transformers.json", br#"{"prompts": {"query": "dog ", "passage": ""}}"#);
    let prompted = open(&LocalOptions::default());
    assert_eq!(prompted.embed_query("cat").unwrap(), [0.6, 0.8]);
    assert_eq!(prompted.embed_passages(&["cat", "", "unknown"]).unwrap(), [[1.0, 0.0], [0.0; 2], [0.0; 2]]);
    assert_eq!(prompted.embed_query("").unwrap(), [0.0; 2], "a prefix alone means nothing");
    assert_ne!(plain.model().id, prompted.model().id);
    write(&directory, SETTINGS_FILE, br#"{"passage_prefix": "cat ", "other": 1}"#);
    let recorded = open(&LocalOptions::default());
    assert_eq!(recorded.settings().query_prefix.as_deref(), Some("dog "));
    assert_eq!(recorded.embed_passages(&["dog"]).unwrap(), [[0.6, 0.8]]);
    let own = LocalOptions {
        name: Some("hub:a/b".into()),
        query_prefix: Some(String::new()),
        passage_prefix: Some(String::new()),
    };
    let own = open(&own);
    assert_eq!(own.embed_query("cat").unwrap(), [1.0, 0.0]);
    let checksum = |model: &LocalModel| model.model().id.split('#').next_back().unwrap().to_owned();
    assert_eq!(checksum(&own), checksum(&plain), "the same vectors");
    assert!(own.model().id.starts_with("hub:a/b#"), "{}", own.model().id);
    write(&directory, SETTINGS_FILE, b"no");
    assert!(refused(&directory).contains(SETTINGS_FILE));
}

#[test]
fn a_bert_encoder_is_built_from_its_weights() {
    let mut vectors = Vec::new();
    for (prefix, pooling) in [
        ("", "mean_tokens"),
        ("bert.", "mean_tokens"),
        ("", "cls_token"),
        ("", "lasttoken"),
        ("", "weightedmean_tokens"),
    ] {
        let directory = directory();
        write(&directory, "model.safetensors", &bert(prefix));
        write(&directory, "config.json", CONFIG.as_bytes());
        let pooling = format!(r#"{{"pooling_mode_{pooling}": true}}"#);
        write(&directory, "1_Pooling/config.json", pooling.as_bytes());
        let model = LocalModel::open(directory.path()).unwrap();
        assert_eq!((model.model().dimension, model.model().max_tokens), (8, Some(16)));
        let long = "cat dogs ".repeat(20);
        let texts = ["cat", "dogs cat dimension", long.as_str(), "", "unknown"];
        let together = model.embed_passages(&texts).unwrap();
        for (text, vector) in texts.iter().zip(&together) {
            let alone = model.embed_query(text).unwrap();
            assert!(vector.iter().zip(&alone).all(|(x, y)| (x - y).abs() < 1e-5), "{text}");
        }
        assert!((dot(&together[2], &together[2]) - 1.0).abs() < 1e-5);
        assert_eq!([&together[3], &together[4]], [&vec![0.0; 8]; 2]);
        vectors.push(together[1].clone());
    }
    assert_eq!(vectors[0], vectors[1]);
    for (at, vector) in vectors.iter().enumerate().skip(2) {
        assert!(vectors[..at].iter().all(|other| dot(vector, other) < 0.9999), "the pooling makes a difference");
    }
}

#[test]
fn an_onnx_model_may_read_token_types_or_not() {
    for token_types in [false, true] {
        let directory = directory();
        write(&directory, "onnx/model.onnx", &onnx(token_types, "attention_mask"));
        write(&directory, "sentence_bert_config.json", br#"{"max_seq_length": 4}"#);
        let model = LocalModel::open(directory.path()).unwrap();
        assert_eq!(model.model().max_tokens, Some(4));
        let vectors = model.embed_passages(&["cat", "dog", "cat dog dog dog"]).unwrap();
        // The limit leaves room for two tokens besides the special ones, whose rows are zero.
        let both = [8.0, 4.0].map(|x: f32| x / 80f32.sqrt());
        for (vector, expected) in vectors.iter().zip([[0.6, 0.8], [1.0, 0.0], both]) {
            assert!((dot(vector, &expected) - 1.0).abs() < 1e-6, "{vector:?} {expected:?}");
        }
    }
}

#[test]
fn a_changed_model_has_another_identifier() {
    let directory = directory();
    let id = |value: f32| {
        write(&directory, "model.safetensors", &tensors(&[("embeddings", &[8, 1], vec![value; 8])]));
        LocalModel::open(directory.path()).unwrap().model().id.clone()
    };
    let (one, two) = (id(1.0), id(2.0));
    assert_ne!(one, two);
    assert_eq!(one, id(1.0));
    assert!(one.starts_with("local:") && one.contains('#'), "{one}");
}

#[test]
fn missing_and_unsupported_files_are_named() {
    let empty = tempfile::tempdir().unwrap();
    assert!(refused(&empty).contains("no tokenizer.json"));
    let directory = directory();
    assert!(refused(&directory).contains("neither model.onnx nor model.safetensors"));
    let case = |files: &[(&str, Vec<u8>)], named: &str| {
        for (name, bytes) in files {
            write(&directory, name, bytes);
        }
        let message = refused(&directory);
        assert!(message.contains(named), "{message} for {named}");
    };
    case(&[("model.safetensors", b"no".to_vec())], "model.safetensors is not one");
    case(&[("model.safetensors", tensors(&[("x", &[1], vec![1.0])]))], "not a BERT encoder");
    case(&[("model.safetensors", tensors(&[("embeddings", &[2], vec![1.0; 2])]))], "shape [2]");
    let two = tensors(&[("embeddings", &[1, 1], vec![1.0]), ("mapping", &[1], vec![0.0])]);
    case(&[("model.safetensors", two)], "mapping is of type F32");
    let other = tensors(&[("embeddings", &[1, 1], vec![1.0]), ("other", &[1], vec![0.0])]);
    case(&[("model.safetensors", other)], "other besides embeddings");
    let weights = tensors(&[("embeddings", &[1, 1], vec![1.0]), ("weights", &[2], vec![1.0; 2])]);
    case(&[("model.safetensors", weights)], "2 weights for 1 tokens");
    for (rows, said) in [([0, 9, 0, 0, 0, 0, 0, 0], "names row 9 of 2"), ([0, 0, -1, 0, 0, 0, 0, 0], "holds -1")] {
        case(&[("model.safetensors", mapped(&rows))], said);
    }
    case(&[("model.safetensors", tensors(&[("embeddings", &[1, 1], vec![f32::NAN])]))], "NaN");
    case(&[("model.safetensors", bert(""))], "no config.json");
    case(&[("config.json", CONFIG.replace("\"bert\"", "\"t5\"").into_bytes())], "t5");
    case(&[("config.json", CONFIG.replace("layers\": 1", "layers\": 2").into_bytes())], "no tensor encoder.layer.1");
    case(&[("config.json", CONFIG.replace("size\": 8", "size\": 4").into_bytes())], "shape [8, 8]");
    case(&[("config.json", CONFIG.replace(": 16", ": 99").into_bytes())], "16 position embeddings");
    let pooling = br#"{"pooling_mode_max_tokens": true}"#.to_vec();
    case(&[("config.json", CONFIG.into()), ("1_Pooling/config.json", pooling)], "pooling that is not supported");
    case(&[("1_Pooling/config.json", b"{}".to_vec()), ("model.onnx", b"no".to_vec())], "model.onnx");
    let mean = br#"{"pooling_mode_mean_tokens": true}"#.to_vec();
    case(&[("1_Pooling/config.json", mean), ("model.onnx", onnx(false, "pixels"))], "pixels");
    case(&[("tokenizer.json", b"{}".to_vec())], "tokenizer.json");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_in_a_model_directory_are_refused() {
    for name in ["tokenizer.json", "config.json", "1_Pooling/config.json", "model.safetensors"] {
        let directory = directory();
        write(&directory, "model.safetensors", &bert(""));
        write(&directory, name, b"");
        let path = directory.path().join(name);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(refused(&directory).contains("not a regular file"), "{name}");
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(refused(&directory).contains("not a regular file"), "{name}");
    }
}
