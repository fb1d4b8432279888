//! Prefixes and pooling of well-known families whose repositories, or exports of them by others, do not say them in a file.
//!
//! Each entry repeats what the model card at its source asks for.

/// A family of models.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// The beginning of its models' names, in lower case and without the owner.
    names: &'static [&'static str],
    pub query_prefix: &'static str,
    pub passage_prefix: &'static str,
    pub pooling: &'static str,
    /// The card of one of its models.
    pub source: &'static str,
}

const SEARCH: &str = "Represent this sentence for searching relevant passages: ";

/// The first entry that fits holds.
const FAMILIES: &[Family] = &[
    Family {
        names: &["multilingual-e5-large-instruct"],
        query_prefix: "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
        passage_prefix: "",
        pooling: "mean",
        source: "intfloat/multilingual-e5-large-instruct",
    },
    Family {
        names: &[
            "e5-small", "e5-base", "e5-large", "multilingual-e5-small", "multilingual-e5-base", "multilingual-e5-large",
        ],
        query_prefix: "query: ",
        passage_prefix: "passage: ",
        pooling: "mean",
        source: "intfloat/e5-base-v2",
    },
    Family {
        names: &["bge-small-en", "bge-base-en", "bge-large-en"],
        query_prefix: SEARCH,
        passage_prefix: "",
        pooling: "cls",
        source: "BAAI/bge-small-en-v1.5",
    },
    Family {
        names: &["bge-small-zh", "bge-base-zh", "bge-large-zh"],
        query_prefix: "为这个句子生成表示以用于检索相关文章：",
        passage_prefix: "",
        pooling: "cls",
        source: "BAAI/bge-small-zh-v1.5",
    },
    Family { names: &["bge-m3"], query_prefix: "", passage_prefix: "", pooling: "cls", source: "BAAI/bge-m3" },
    Family {
        names: &["nomic-embed-text-"],
        query_prefix: "search_query: ",
        passage_prefix: "search_document: ",
        pooling: "mean",
        source: "nomic-ai/nomic-embed-text-v1.5",
    },
    Family {
        names: &["mxbai-embed-large", "mxbai-embed-xsmall"],
        query_prefix: SEARCH,
        passage_prefix: "",
        pooling: "cls",
        source: "mixedbread-ai/mxbai-embed-large-v1",
    },
    Family {
        names: &["snowflake-arctic-embed-m-v2.0", "snowflake-arctic-embed-l-v2.0"],
        query_prefix: "query: ",
        passage_prefix: "",
        pooling: "cls",
        source: "Snowflake/snowflake-arctic-embed-m-v2.0",
    },
    Family {
        names: &["snowflake-arctic-embed-"],
        query_prefix: SEARCH,
        passage_prefix: "",
        pooling: "cls",
        source: "Snowflake/snowflake-arctic-embed-s",
    },
    Family {
        names: &["gte-base-en-v1.5", "gte-large-en-v1.5", "gte-multilingual-base", "gte-modernbert-base"],
        query_prefix: "",
        passage_prefix: "",
        pooling: "cls",
        source: "Alibaba-NLP/gte-base-en-v1.5",
    },
    Family {
        names: &["gte-small", "gte-base", "gte-large"],
        query_prefix: "",
        passage_prefix: "",
        pooling: "mean",
        source: "thenlper/gte-small",
    },
];

/// Returns the family of a model by its name without the owner.
pub(super) fn find(short: &str) -> Option<&'static Family> {
    let short = short.to_lowercase();
    FAMILIES.iter().find(|family| family.names.iter().any(|name| short.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_belongs_to_its_own_family() {
        for family in FAMILIES {
            let short = family.source.rsplit('/').next().expect("a name");
            assert_eq!(find(short), Some(family), "{}", family.source);
        }
    }

    #[test]
    fn names_lead_to_prefixes() {
        let prefixes = |name: &str| find(name).map(|family| (family.query_prefix, family.passage_prefix));
        assert_eq!(prefixes("e5-small-v2"), Some(("query: ", "passage: ")));
        assert_eq!(prefixes("multilingual-e5-base"), Some(("query: ", "passage: ")));
        assert_eq!(prefixes("bge-small-en-v1.5"), Some((SEARCH, "")));
        assert_eq!(prefixes("gte-small"), Some(("", "")));
        assert_eq!(prefixes("e5-mistral-7b-instruct"), None);
        assert_eq!(prefixes("all-MiniLM-L12-v2"), None);
    }
}
