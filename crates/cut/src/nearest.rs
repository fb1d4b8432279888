//! Suggestions for misspelt names.

/// The name closest to `typed`, if it is close enough to be a slip: edits to at most a third of it, or a shared beginning.
pub(crate) fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let edits = names.into_iter().map(|name| (strsim::levenshtein(typed, name), name));
    let (distance, name) = edits.min_by_key(|&(distance, _)| distance)?;
    let length = typed.chars().count().max(name.chars().count());
    let begins_alike = typed.len() >= 3 && (name.starts_with(typed) || typed.starts_with(name));
    (distance * 3 <= length.max(3) || begins_alike).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
