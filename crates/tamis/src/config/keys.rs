//! The table of configuration keys: name, allowed values, default and meaning, in one place for parsing, error
//! messages, `tamis config` and the documentation.

use super::value::{Allowed, Value};
use tamis_cut::Want;

/// One configuration key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Dotted name: the TOML table and the key in it.
    pub name: String,
    /// What it allows.
    pub allowed: Allowed,
    /// Its value when nobody sets it.
    pub default: Value,
    /// What it does, in one line.
    pub doc: String,
}

impl Key {
    /// The environment variable that sets it: `TAMIS_` and the name in capitals with underscores.
    pub fn variable(&self) -> String {
        format!("TAMIS_{}", self.name.to_ascii_uppercase().replace('.', "_"))
    }
}

/// Every key but those of `[models.NAME]`, `[search.calibrated]` and the languages without a threshold of their own in
/// `[search.thresholds]`, in the order in which `tamis config` prints them. [`Config::keys`](super::Config::keys) has the
/// last too, where they are set.
pub fn keys() -> Vec<Key> {
    let mut keys = Vec::new();
    let mut key = |name: &str, allowed, default, doc: &str| {
        keys.push(Key { name: name.to_owned(), allowed, default, doc: doc.to_owned() });
    };
    let text = |value: &str| Value::Text(value.to_owned());
    let list = |values: &[&str]| Value::List(values.iter().map(|&value| value.to_owned()).collect());

    key(
        "telemetry",
        Allowed::OneOf(&["on", "off"]),
        text("on"),
        "record each search in the index directory, for feedback and guarantees; nothing is sent anywhere",
    );
    key("telemetry_text", Allowed::Flag, Value::Flag(false), "record the text of queries too, not only its hash");
    key(
        "search.top_k",
        Allowed::Integer(1, 100),
        Value::Integer(10),
        "most results shown; never changes what is relevant",
    );
    key("search.cut", Allowed::Text, text("auto"), "where relevance ends: METHOD or METHOD:PARAM=VALUE,…");
    key(
        "search.want",
        Allowed::OneOf(Want::NAMES),
        text("auto"),
        "how much is wanted, over the strictness of a cut that has one; auto: what the cut decides by itself",
    );
    key(
        "search.guarantee",
        Allowed::Text,
        text("off"),
        "promise calibrated on judged queries, such as recall=0.9, in place of the cut's own choice; off: none",
    );
    key("search.gate", Allowed::Flag, Value::Flag(true), "answer nothing when nothing in the corpus stands out");
    key(
        "search.sharing",
        Allowed::Flag,
        Value::Flag(true),
        "search also what the owner of the namespace shares from other ones",
    );
    key(
        "search.shared_namespaces",
        Allowed::Integer(0, 100),
        Value::Integer(5),
        "most shared namespaces searched, the largest first",
    );
    key(
        "search.mode",
        Allowed::OneOf(&["hybrid", "lexical", "semantic"]),
        text("hybrid"),
        "which legs gather candidates",
    );
    key("search.pool", Allowed::Integer(20, 1000), Value::Integer(100), "candidates from each leg, at least 4 · top_k");
    key(
        "search.fusion",
        Allowed::OneOf(&["convex", "rrf", "weighted"]),
        text("convex"),
        "how the two legs' scores become one",
    );
    key(
        "search.fusion_weight",
        Allowed::AutoOrNumber(0.0, 1.0),
        text("auto"),
        "share of the semantic leg; auto: the model's own",
    );
    key(
        "search.model",
        Allowed::Text,
        text("auto"),
        "model of the semantic leg; auto: the best one that covers the corpus",
    );
    key("search.refresh", Allowed::Flag, Value::Flag(true), "bring the index up to date before each search");
    key(
        "search.refresh_embed",
        Allowed::Integer(0, 100_000),
        Value::Integer(64),
        "most new passages that a search embeds with the better model before it answers",
    );
    key("search.snippet_lines", Allowed::Integer(1, 50), Value::Integer(6), "lines of text shown for a result");
    key(
        "search.variants.intent_weight",
        Allowed::Number(0.0, 1.0),
        Value::Number(1.0),
        "how much the ranks of the query itself and of other wordings of it count",
    );
    key(
        "search.variants.paths_weight",
        Allowed::Number(0.0, 1.0),
        Value::Number(0.95),
        "how much the ranks of a variant that names files count",
    );
    key(
        "search.variants.code_weight",
        Allowed::Number(0.0, 1.0),
        Value::Number(0.9),
        "how much the ranks of a variant in the shape of code count",
    );
    key(
        "search.variants.max_characters",
        Allowed::Integer(10, 100_000),
        Value::Integer(800),
        "longest variant of a query",
    );
    key(
        "rank.same_language",
        Allowed::Number(0.01, 1.0),
        Value::Number(0.85),
        "factor on the distance of passages in the language that the query hints at",
    );
    key(
        "rank.related_language",
        Allowed::Number(0.01, 1.0),
        Value::Number(0.925),
        "factor on the distance of passages in a related language",
    );
    key(
        "rank.recency",
        Allowed::OneOf(&["auto", "on", "off"]),
        text("auto"),
        "move older passages farther away; auto: with the cut max_gap, which is defined so",
    );
    key(
        "rank.recency_half_life_days",
        Allowed::Number(0.1, 36_500.0),
        Value::Number(90.0),
        "days after which half of a passage's recency is left",
    );
    key(
        "rank.recency_floor",
        Allowed::Number(0.0, 1.0),
        Value::Number(0.15),
        "least recency that an old passage keeps",
    );
    key(
        "rank.severe_recency_floor",
        Allowed::Number(0.0, 1.0),
        Value::Number(0.30),
        "least recency that an old passage of severity critical or major keeps",
    );
    let factor = Allowed::Number(0.01, 1.0);
    for (role, default, what) in [
        ("test", 0.9, "tests"),
        ("example", 0.95, "examples"),
        ("vendored", 0.85, "vendored code"),
        ("generated", 0.85, "generated code"),
        ("changelog", 0.85, "changelogs"),
        ("license", 0.85, "licences and notices"),
        ("bot", 0.8, "what programs say in discussions"),
        ("template", 0.8, "forms that nobody filled in"),
    ] {
        let doc = format!("factor on the ranking value of {what}");
        key(&format!("rank.{role}"), factor, Value::Number(default), &doc);
    }
    key(
        "rank.usage",
        factor,
        Value::Number(0.75),
        "factor on the ranking value of what uses a name that the query gives, where its definition was found too",
    );
    key(
        "index.models",
        Allowed::List(&[]),
        list(&["static", "minilm"]),
        "models to embed with, the quick one first, the best one last",
    );
    key("index.max_file_bytes", Allowed::Integer(1024, 1 << 30), Value::Integer(1 << 20), "larger files are left out");
    key(
        "index.passage_tokens",
        Allowed::Integer(50, 4000),
        Value::Integer(400),
        "longer symbols, sections and paragraphs are split",
    );
    key(
        "index.skip",
        Allowed::List(&["lock", "minified", "generated", "secret", "data"]),
        list(&["lock", "minified", "generated", "secret", "data"]),
        "kinds of files left out (binary, empty and too large ones always are)",
    );
    key("index.ignore", Allowed::List(&[]), list(&[]), "globs left out, as in .gitignore");
    key(
        "index.hidden",
        Allowed::Flag,
        Value::Flag(true),
        "index hidden files and directories (version control never is)",
    );
    key(
        "index.embedding_cache_mb",
        Allowed::Integer(0, 1_000_000),
        Value::Integer(1024),
        "greatest size of the user's cache of vectors, which all indexes share, in megabytes; 0: not used",
    );

    keys.extend(super::import_keys::all());
    keys.extend(super::note_keys::all());
    keys.extend(super::memory_keys::all());
    keys.extend(super::github_keys::all());
    keys.extend(super::triage_keys::all());
    keys.extend(super::evidence_keys::all());
    keys.extend(super::mcp_keys::all());
    keys.extend(super::threshold_keys::all());
    keys.extend(super::cut_keys::all());
    by_table(keys)
}

/// Keys of one table together, in the order in which tables and keys come first: TOML names a table once.
pub(super) fn by_table(keys: Vec<Key>) -> Vec<Key> {
    let mut tables: Vec<(String, Vec<Key>)> = Vec::new();
    for key in keys {
        let table = key.name.rsplit_once('.').map_or("", |(table, _)| table);
        match tables.iter_mut().find(|(name, _)| name == table) {
            Some((_, members)) => members.push(key),
            None => tables.push((table.to_owned(), vec![key])),
        }
    }
    tables.into_iter().flat_map(|(_, members)| members).collect()
}

/// The name among `known` that is nearest to `name`, if any is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
