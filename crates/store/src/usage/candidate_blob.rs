//! The candidates' evidence as one blob: a byte whose bits name the columns that follow, then each column as little-endian
//! f32, one value per candidate. An unknown value is NaN; a column without any known value is omitted.

use crate::usage_record::RecordedCandidate;

/// Number of columns, in the order of [`columns`].
const COLUMNS: usize = 8;

fn columns(candidate: &RecordedCandidate) -> [Option<f32>; COLUMNS] {
    let RecordedCandidate { similarity, bm25, coverage, score, probability, entry, required, exact, .. } = *candidate;
    // A place is far below the integers that single precision leaves out.
    let (entry, exact) = (entry.map(|place| place as f32), exact.map(|exact| f32::from(u8::from(exact))));
    [similarity, bm25, coverage, score, probability, entry, required, exact]
}

/// The blob of these candidates.
pub(crate) fn encode(candidates: &[RecordedCandidate]) -> Vec<u8> {
    let known = |column: usize| candidates.iter().any(|candidate| columns(candidate)[column].is_some());
    let present: Vec<usize> = (0..COLUMNS).filter(|&column| known(column)).collect();
    let mut blob = Vec::with_capacity(1 + present.len() * candidates.len() * 4);
    blob.push(present.iter().fold(0u8, |mask, column| mask | 1 << column));
    for &column in &present {
        for candidate in candidates {
            blob.extend_from_slice(&columns(candidate)[column].unwrap_or(f32::NAN).to_le_bytes());
        }
    }
    blob
}

/// The candidates with these identifiers; `None` if the blob does not fit them.
pub(crate) fn decode(passages: Vec<String>, blob: &[u8]) -> Option<Vec<RecordedCandidate>> {
    let (&mask, bytes) = blob.split_first()?;
    let count = passages.len();
    let present = mask.count_ones() as usize;
    if bytes.len() != present * count * 4 {
        return None;
    }
    let mut values = bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let mut candidates: Vec<RecordedCandidate> =
        passages.into_iter().map(|passage| RecordedCandidate { passage, ..RecordedCandidate::default() }).collect();
    for column in (0..COLUMNS).filter(|column| mask & 1 << column != 0) {
        for candidate in &mut candidates {
            let value = values.next().filter(|value| !value.is_nan());
            match column {
                0 => candidate.similarity = value,
                1 => candidate.bm25 = value,
                2 => candidate.coverage = value,
                3 => candidate.score = value,
                4 => candidate.probability = value,
                5 => candidate.entry = value.map(|place| place as u32),
                6 => candidate.required = value,
                _ => candidate.exact = value.map(|exact| exact > 0.0),
            }
        }
    }
    Some(candidates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate() -> impl Strategy<Value = RecordedCandidate> {
        let figure = || prop::option::of(-1e6f32..1e6);
        let entry = prop::option::of(0u32..4000);
        let exact = prop::option::of(any::<bool>());
        ("[0-9a-f]{12}", figure(), figure(), figure(), figure(), figure(), entry, figure(), exact).prop_map(
            |(passage, similarity, bm25, coverage, score, probability, entry, required, exact)| RecordedCandidate {
                passage,
                similarity,
                bm25,
                coverage,
                score,
                probability,
                entry,
                required,
                exact,
            },
        )
    }

    fn passages(candidates: &[RecordedCandidate]) -> Vec<String> {
        candidates.iter().map(|candidate| candidate.passage.clone()).collect()
    }

    proptest! {
        #[test]
        fn what_is_encoded_comes_back(candidates in prop::collection::vec(candidate(), 0..40)) {
            let blob = encode(&candidates);
            prop_assert!(blob.len() <= 1 + 32 * candidates.len());
            prop_assert_eq!(decode(passages(&candidates), &blob), Some(candidates));
        }

        #[test]
        fn any_bytes_are_read_without_harm(blob in prop::collection::vec(any::<u8>(), 0..90), count in 0usize..6) {
            let candidates = decode(vec!["0123456789ab".to_owned(); count], &blob);
            prop_assert!(candidates.is_none_or(|candidates| candidates.len() == count));
        }
    }

    #[test]
    fn unknown_columns_take_no_space() {
        let alone = RecordedCandidate { passage: "a".into(), bm25: Some(2.5), ..RecordedCandidate::default() };
        assert_eq!(encode(&[alone.clone(), alone]).len(), 1 + 2 * 4);
        assert_eq!(encode(&[]), [0]);
    }
}
