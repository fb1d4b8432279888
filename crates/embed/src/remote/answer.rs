//! Reads the body of an answer into vectors, in the order of the texts.

use serde::Deserialize;

use super::client::Rejected;
use crate::normalise;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    /// Some servers leave it out. The order of the entries counts then.
    index: Option<usize>,
    /// Some servers write `null` for a number that is not finite.
    embedding: Vec<Option<f32>>,
}

/// Returns unit vectors, one for each of `count` texts. All have the same number of entries: `dimension`, when it is known.
pub(super) fn parse(body: &[u8], count: usize, dimension: Option<usize>) -> Result<Vec<Vec<f32>>, Rejected> {
    let answer: Answer =
        serde_json::from_slice(body).map_err(|error| Rejected::unparsed(body, "an embeddings answer", &error))?;
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
            Some(slot @ None) => *slot = Some(vector),
            Some(Some(_)) => return wrong(format!("index {index} came twice")),
            None => return wrong(format!("index {index} came for {count} texts")),
        }
    }
    // There are as many entries as slots and no index came twice, so every slot is filled.
    Ok(vectors.into_iter().flatten().collect())
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
    fn unexpected_answers_are_described() {
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
    fn truncated_bodies_differ_from_wrong_ones() {
        assert!(matches!(parse(br#"{"data": [{"index""#, 1, None), Err(Rejected::Truncated(_))));
        assert!(matches!(parse(b"", 1, None), Err(Rejected::Truncated(_))));
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..80), count in 0usize..4) {
            let _ = parse(&body, count, None);
        }
    }
}
