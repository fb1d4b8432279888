//! The parameters that occur in a statement.

use std::collections::BTreeSet;

/// The names of the parameters of a statement: names after a colon, outside of strings, quoted names and comments.
///
/// # Errors
/// A parameter of another form (`?`, `@name`, `$name`).
pub(super) fn parameters_of(sql: &str) -> Result<BTreeSet<&str>, String> {
    let mut names = BTreeSet::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        rest = match first {
            '\'' | '"' | '`' => beyond(after, &first.to_string()),
            '[' => beyond(after, "]"),
            '-' if after.starts_with('-') => beyond(after, "\n"),
            '/' if after.starts_with('*') => beyond(&after[1..], "*/"),
            ':' if word(after) > 0 => {
                names.insert(&after[..word(after)]);
                &after[word(after)..]
            }
            '?' | '@' | '$' => return Err(format!("{first}{}: parameters are written :name", &after[..word(after)])),
            // A dollar within a name is part of it.
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
                &rest[end..]
            }
            _ => after,
        };
    }
    Ok(names)
}

fn beyond<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sql: &str) -> Vec<&str> {
        parameters_of(sql).expect("parameters by name").into_iter().collect()
    }

    #[test]
    fn parameters_are_told_from_what_looks_like_them() {
        assert_eq!(names("SELECT :a, x=:b_2,:a FROM t WHERE y<:Ünder"), ["a", "b_2", "Ünder"]);
        assert_eq!(names("SELECT '12:30', ':no', 'it''s :no', \":no\", [:no], `:no`, :yes"), ["yes"]);
        assert_eq!(names("-- :no\nSELECT /* :no */ :yes -- :no"), ["yes"]);
        assert_eq!(names("SELECT 'never closed :no"), [] as [&str; 0]);
        assert_eq!(names("SELECT a$b, json->>'$.x' : x"), [] as [&str; 0]);
        for other in ["SELECT ?", "SELECT ?1", "SELECT @a", "SELECT $a"] {
            assert!(parameters_of(other).is_err(), "{other}");
        }
    }
}
