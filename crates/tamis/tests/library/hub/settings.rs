//! Reads a model's own files: its form, its pooling and its prefixes.

use crate::hub::models::{bert, exported, models, reader, table};
use crate::hub::server::COMMIT;
use crate::hub::{NAME, User, assert_near};
use crate::support::assert_says;
use tamis::hub::{AddRequest, ModelKind};
use tamis_embed::{LocalReranker, Reranker};

const TEXT: &str = "heat the oven to bake bread";

#[test]
fn a_table_is_added_with_its_record() {
    let user = User::of(table());
    let added = user.added();
    let record = &added.model.record;
    assert_eq!((record.model.as_str(), record.revision.as_str(), record.kind), (NAME, COMMIT, ModelKind::Embedder));
    assert_eq!((record.dimension, record.max_tokens, record.license.as_deref()), (Some(8), None, Some("apache-2.0")));
    assert_eq!(record.files.len(), 3, "one form of the weights: {:?}", record.files);
    let place = format!("house--tiny/{COMMIT}");
    let expected = ["config.json", "model.safetensors", "tamis-model.json", "tokenizer.json"];
    assert_eq!(user.files(), expected.map(|file| format!("{place}/{file}")));
    for file in &record.files {
        let content = std::fs::read(added.model.directory.join(&file.path)).expect("there");
        assert_eq!((content.len() as u64, crate::hub::server::sha256(&content)), (file.bytes, file.sha256.clone()));
    }
    let configured = user.configured(&added, "");
    let (model, vector) = configured.embed_query("m", TEXT).expect("embedded");
    assert!(model.model().id.starts_with("hub:house/tiny#"), "{}", model.model().id);
    assert_near(&vector, &models().of_table("table", TEXT));

    let repository = table().with("model.safetensors", models().file("mapped.safetensors"));
    let user = User::of(repository);
    let configured = user.configured(&user.added(), "");
    assert_near(&configured.embed_query("m", TEXT).expect("embedded").1, &models().of_table("mapped", TEXT));

    let mut repository = table();
    repository.card = serde_json::Value::Null;
    let user = User::of(repository);
    assert_eq!(user.added().model.record.license.as_deref(), Some("mit"));
}

#[test]
fn pooling_is_that_of_the_models_own_file_or_its_family() {
    for pooling in ["mean", "cls", "lasttoken", "weightedmean"] {
        let user = User::of(bert(pooling));
        let added = user.added();
        let record = &added.model.record;
        assert_eq!(record.settings.values.pooling.as_deref(), Some(pooling));
        assert_eq!(record.settings.pooling_from.as_deref(), Some("1_Pooling/config.json"));
        assert_eq!(record.max_tokens, Some(24));
        assert!(record.files.iter().any(|file| file.source == "model.safetensors"), "{:?}", record.files);
        let configured = user.configured(&added, "");
        for text in [TEXT, "oven"] {
            assert_near(&configured.embed_query("m", text).expect("embedded").1, &models().of_bert(text, pooling));
        }
    }

    for (name, pooling, origin) in
        [("exports/bge-small-en-v1.5", "cls", "the model card of BAAI/"), ("exports/tiny", "mean", "no file says it")]
    {
        let user = User::with(&[(name, exported())]);
        let added = user.add(&AddRequest { file: Some("onnx/model.onnx".into()), ..user.request(name) }).expect("fit");
        let record = &added.model.record;
        assert_eq!(record.settings.values.pooling.as_deref(), Some(pooling));
        let from = record.settings.pooling_from.as_deref();
        assert!(from.is_some_and(|from| from.starts_with(origin)), "{from:?}");
        let vectors = user.configured(&added, "").embed_passages("m", &[TEXT], true).expect("embedded");
        assert_near(&vectors[0], &models().of_bert(TEXT, pooling));
    }
}

#[test]
fn eight_bits_are_taken_on_request() {
    let user = User::of(exported());
    let added = user.add(&AddRequest { quantized: true, ..user.request(NAME) }).expect("added");
    assert!(added.model.record.files.iter().any(|file| file.source == "onnx/model_quantized.onnx"));
    let vector = user.configured(&added, "").embed_query("m", TEXT).expect("embedded").1;
    let likeness: f32 = vector.iter().zip(models().of_bert(TEXT, "mean")).map(|(x, y)| x * y).sum();
    assert!(likeness > 0.99 && likeness < 0.999_999_9, "{likeness}");

    // The other form of the same commit takes its place, and most files need not be fetched again.
    user.hub.requests();
    let full = user.added();
    assert!(!full.was_there);
    let asked: Vec<String> = user.hub.requests().into_iter().map(|request| request.path).collect();
    assert!(asked.iter().all(|path| path.contains("/revision/") || path.contains("onnx/model.onnx")), "{asked:?}");
    let embedded = user.configured(&full, "").embed_query("m", TEXT).expect("embedded").1;
    assert_near(&embedded, &models().of_bert(TEXT, "mean"));
    assert!(!user.files().iter().any(|file| file.contains("incoming")), "{:?}", user.files());
}

#[test]
fn prefixes_are_applied_and_make_other_vectors() {
    let prompts = br#"{"prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": null}"#;
    let own = User::of(bert("mean").with("config_sentence_transformers.json", prompts));
    let family = User::with(&[("house/e5-small-tiny", bert("mean"))]);
    let plain = User::of(bert("mean"));
    let mut ids = Vec::new();
    for (user, name, origin) in [
        (&own, NAME, Some("config_sentence_transformers.json")),
        (&family, "house/e5-small-tiny", Some("the model card of intfloat/e5-base-v2")),
        (&plain, NAME, None),
    ] {
        let added = user.add(&user.request(name)).expect("added");
        let record = &added.model.record;
        assert_eq!(record.settings.prefixes_from.as_deref(), origin);
        let (query, passage) = if origin.is_some() { ("query: ", "passage: ") } else { ("", "") };
        assert_eq!(record.settings.values.query_prefix.as_deref(), Some(query));
        assert_eq!(record.settings.values.passage_prefix.as_deref(), Some(passage));
        let configured = user.configured(&added, "");
        let (model, vector) = configured.embed_query("m", TEXT).expect("embedded");
        assert_near(&vector, &models().of_bert(&format!("{query}{TEXT}"), "mean"));
        let passages = configured.embed_passages("m", &[TEXT, "", "zzz"], true).expect("embedded");
        assert_near(&passages[0], &models().of_bert(&format!("{passage}{TEXT}"), "mean"));
        assert_eq!(passages[1..], [[0.0; 8], [0.0; 8]], "a prefix alone means nothing");
        ids.push(model.model().id.split('#').next_back().expect("a checksum").to_owned());
    }
    assert_eq!(ids[0], ids[1], "the same vectors, whoever says the prefixes");
    assert_ne!(ids[0], ids[2], "other prefixes, other vectors");

    // The user's own word goes before all others.
    let added = own.added();
    let configured = own.configured(&added, "query_prefix = \"\"\npassage_prefix = \"\"\n");
    let (model, vector) = configured.embed_query("m", TEXT).expect("embedded");
    assert_near(&vector, &models().of_bert(TEXT, "mean"));
    assert!(model.model().id.ends_with(&ids[2]), "{} {}", model.model().id, ids[2]);
}

#[test]
fn a_reranker_is_known_by_its_configuration() {
    let user = User::of(reader());
    let added = user.added();
    assert_eq!((added.model.record.kind, added.model.record.dimension), (ModelKind::Reranker, None));
    let model = LocalReranker::open(&added.model.directory).expect("opened");
    let odds = model.score("oven", &["heat the oven", "ships wait"]).expect("scored");
    assert!(odds.iter().all(|odds| odds.is_finite()) && odds[0] != odds[1], "{odds:?}");
    assert_says(user.configured(&added, "").embed_query("m", TEXT).map(|_| ()).expect_err("no vectors"), &["reranker"]);
}
