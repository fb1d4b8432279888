//! Reads the body of a reranker's answer into scores, in the order of the passages, and turns scores into log odds.

use serde::Deserialize;

use super::client::Rejected;

/// The largest distance of log odds from 0. Nothing that a model says is surer, and sums stay finite.
const MOST: f64 = 100.0;

/// The least distance of a probability from 0 and 1.
const LEAST: f64 = 1e-6;

#[derive(Deserialize)]
struct Answer {
    /// Voyage calls them `data`.
    #[serde(alias = "data")]
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    index: usize,
    /// Some servers write `null` for a number that is not finite.
    relevance_score: Option<f64>,
    /// The other name of the same.
    score: Option<f64>,
}

/// Returns the score of each of `count` passages.
pub(super) fn parse(body: &[u8], count: usize) -> Result<Vec<f64>, Rejected> {
    let is_list = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let entries: Result<Vec<Entry>, _> = if is_list {
        serde_json::from_slice(body)
    } else {
        serde_json::from_slice(body).map(|Answer { results }| results)
    };
    let entries = entries.map_err(|error| Rejected::unparsed(body, "a reranker's answer", &error))?;
    let wrong = |reason| Err(Rejected::Wrong(reason));
    if entries.len() != count {
        return wrong(format!("{count} passages were sent and {} scores came", entries.len()));
    }
    let mut scores = vec![None; count];
    for Entry { index, relevance_score, score } in entries {
        let Some(score) = relevance_score.or(score).filter(|score| score.is_finite()) else {
            return wrong(format!("the score of passage {index} is missing or not a finite number"));
        };
        match scores.get_mut(index) {
            Some(slot @ None) => *slot = Some(score),
            Some(Some(_)) => return wrong(format!("index {index} came twice")),
            None => return wrong(format!("index {index} came for {count} passages")),
        }
    }
    // There are as many entries as slots and no index came twice, so every slot is filled.
    Ok(scores.into_iter().flatten().collect())
}

pub(super) fn is_probability(score: f64) -> bool {
    (0.0..=1.0).contains(&score)
}

/// Returns the log odds of a probability.
pub(super) fn of_probability(probability: f64) -> f32 {
    let probability = probability.clamp(LEAST, 1.0 - LEAST);
    (probability / (1.0 - probability)).ln() as f32
}

/// Returns log odds as they came, within bounds.
pub(super) fn of_logit(logit: f64) -> f32 {
    logit.clamp(-MOST, MOST) as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reason(body: &str, count: usize) -> String {
        match parse(body.as_bytes(), count) {
            Err(Rejected::Wrong(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn scores_go_where_their_index_says() {
        for body in [
            r#"{"id": "x", "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]}"#,
            r#"{"data": [{"index": 1, "relevance_score": 0.9, "document": {"text": "b"}}, {"index": 0, "score": 0.2}]}"#,
            r#" [{"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}]"#,
        ] {
            assert_eq!(parse(body.as_bytes(), 2), Ok(vec![0.2, 0.9]), "{body}");
        }
    }

    #[test]
    fn unexpected_answers_are_described() {
        let twice = r#"[{"index": 0, "score": 1}, {"index": 0, "score": 1}]"#;
        assert!(reason(twice, 2).contains("index 0 came twice"));
        assert!(reason(twice, 3).contains("3 passages were sent and 2 scores came"));
        assert!(reason(&twice.replacen("0", "7", 1), 2).contains("index 7 came for 2 passages"));
        assert!(reason(&twice.replacen("0", "-1", 1), 2).contains("not a reranker's answer"));
        assert!(reason(&twice.replacen(": 1", ": null", 1), 2).contains("passage 0 is missing or not a finite number"));
        assert!(reason(&twice.replacen(": 1", ": NaN", 1), 2).contains("not a reranker's answer"));
        assert!(reason(&twice.replacen(": 1", ": 1e999", 1), 2).contains("not a reranker's answer"));
        assert!(reason(&twice.replacen("\"index\": 0, ", "", 1), 2).contains("missing field `index`"));
        assert!(reason("<html>", 1).contains("not a reranker's answer"));
        assert!(reason(r#"{"error": "no such model"}"#, 1).contains("missing field `results`"));
        assert!(matches!(parse(br#"{"results": [{"ind"#, 1), Err(Rejected::Truncated(_))));
        assert!(matches!(parse(b"", 1), Err(Rejected::Truncated(_))));
    }

    #[test]
    fn probabilities_become_log_odds() {
        assert!(of_probability(0.5).abs() < 1e-6);
        assert!((of_probability(0.9) - 9f32.ln()).abs() < 1e-5);
        assert!((of_probability(0.0) + of_probability(1.0)).abs() < 1e-3);
        assert!(of_probability(1.0) > 13.0 && of_probability(1.0) < 14.0);
        assert_eq!([of_logit(-3.5), of_logit(1e308)], [-3.5, 100.0]);
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..80), count in 0usize..4) {
            let _ = parse(&body, count);
        }
    }
}
