//! The nearest of a few names to what somebody typed.

/// The name with the fewest edits to `typed`, where that is few enough to be a slip: at most a third of the length,
/// or a common beginning.
pub(crate) fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, name) =
        names.into_iter().map(|name| (edits(typed, name), name)).min_by_key(|&(distance, _)| distance)?;
    let length = typed.chars().count().max(name.chars().count());
    let begins_alike = typed.len() >= 3 && (name.starts_with(typed) || typed.starts_with(name));
    (distance * 3 <= length.max(3) || begins_alike).then_some(name)
}

/// Levenshtein distance in characters; O(a·b) time, O(b) space.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != *y)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_counts_insertions_deletions_and_substitutions() {
        for (a, b, distance) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2)] {
            assert_eq!(edits(a, b), distance);
            assert_eq!(edits(b, a), distance);
        }
    }

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let names = ["kneedle", "max_gap", "otsu"];
        assert_eq!(nearest("kneedel", names), Some("kneedle"));
        assert_eq!(nearest("knee", names), Some("kneedle"));
        assert_eq!(nearest("otzu", names), Some("otsu"));
        assert_eq!(nearest("banana", names), None);
        assert_eq!(nearest("", names), None);
    }
}
