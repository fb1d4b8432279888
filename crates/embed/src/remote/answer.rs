//! From the body of an answer to vectors in the order of the texts.

use serde::Deserialize;

use crate::normalise;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    /// Some servers leave it out; then the order of the entries counts.
    index: Option<usize>,
    /// An entry that is not a finite number is written as `null` by some servers.
    embedding: Vec<Option<f32>>,
}

/// An answer without usable vectors.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    /// It ends too early, which another attempt may mend.
    CutShort(String),
    /// It is not what was asked for.
    Wrong(String),
}

/// Unit vectors, one for each of `count` texts. All have `dimension` entries when it is known, and the same number in
/// any case.
pub(super) fn parse(body: &[u8], count: usize, dimension: Option<usize>) -> Result<Vec<Vec<f32>>, Rejected> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| {
        if error.is_eof() {
            Rejected::CutShort(format!("the answer ends after {} bytes: {error}", body.len()))
        } else {
            Rejected::Wrong(format!("it is not an embeddings answer: {error}"))
        }
    })?;
    let wrong = |reason| Err(Rejected::Wrong(reason));
    if answer.data.len() != count {
        return wrong(format!("{count} texts were sent and {} vectors came", answer.data.len()));
    }
    let mut vectors = vec![None; count];
    let mut dimension = dimension;
    for (position, entry) in answer.data.into_iter().enumerate() {
        let index = entry.index.unwrap_or(position);
        let found = entry.embedding.len();
        let expected = *dimension.get_or_insert(found);
        if found != expected || found == 0 {
            return wrong(format!(
                "vector {index} has {found} entries; expected {expected}, so the model may have changed"
            ));
        }
        let Some(mut vector) =
            entry.embedding.into_iter().map(|x| x.filter(|x| x.is_finite())).collect::<Option<Vec<f32>>>()
        else {
            return wrong(format!("vector {index} has an entry that is not a finite number"));
        };
        normalise(&mut vector);
        match vectors.get_mut(index) {
            Some(place @ None) => *place = Some(vector),
            Some(Some(_)) => return wrong(format!("index {index} came twice")),
            None => return wrong(format!("index {index} came for {count} texts")),
        }
    }
    // As many entries as places, none of them twice: every place is taken.
    Ok(vectors.into_iter().flatten().collect())
}

/// An address without user name, password, query and fragment, any of which may be a secret.
pub(super) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => url.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reason(body: &str, count: usize, dimension: Option<usize>) -> String {
        match parse(body.as_bytes(), count, dimension) {
            Err(Rejected::Wrong(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn vectors_go_where_their_index_says() {
        let body = r#"{"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 0]}]}"#;
        assert_eq!(parse(body.as_bytes(), 2, None), Ok(vec![vec![1.0, 0.0], vec![0.0, 1.0]]));
        let unnumbered = r#"{"data": [{"embedding": [0, 2]}, {"embedding": [3, 0]}]}"#;
        assert_eq!(parse(unnumbered.as_bytes(), 2, None), Ok(vec![vec![0.0, 1.0], vec![1.0, 0.0]]));
    }

    #[test]
    fn what_was_not_asked_for_is_named() {
        let two = r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#;
        assert!(reason(two, 2, None).contains("index 0 came twice"));
        assert!(reason(two, 3, None).contains("3 texts were sent and 2 vectors came"));
        assert!(reason(two, 2, Some(3)).contains("1 entries; expected 3"));
        assert!(reason(&two.replace("\"index\": 0", "\"index\": 7"), 2, None).contains("index 7 came for 2"));
        assert!(reason(&two.replace("[1]", "[null]"), 2, None).contains("not a finite number"));
        assert!(!reason(&two.replace("[1]", "[1e39]"), 2, None).is_empty(), "more than f32 holds");
        assert!(reason(&two.replace("[1]", "[]"), 2, None).contains("0 entries"));
        assert!(reason("<html>", 1, None).contains("not an embeddings answer"));
        assert!(reason(r#"{"error": "no such model"}"#, 1, None).contains("missing field `data`"));
    }

    #[test]
    fn a_body_that_ends_early_is_told_from_a_wrong_one() {
        assert!(matches!(parse(br#"{"data": [{"index""#, 1, None), Err(Rejected::CutShort(_))));
        assert!(matches!(parse(b"", 1, None), Err(Rejected::CutShort(_))));
    }

    #[test]
    fn addresses_lose_their_secrets() {
        assert_eq!(without_secrets("https://me:pass@host:1/v1/embeddings?key=abc#d"), "https://host:1/v1/embeddings");
        assert_eq!(without_secrets("me:pass@host"), "host");
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..80), count in 0usize..4) {
            let _ = parse(&body, count, None);
        }
    }
}
