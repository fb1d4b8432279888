//! The `Link` header (RFC 8288), as far as paging needs it.

/// Returns the target of the first link with this `relation`.
pub(super) fn target<'a>(header: &'a str, relation: &str) -> Option<&'a str> {
    let mut rest = header;
    while let Some(start) = rest.find('<') {
        let after = rest.get(start + 1..)?;
        let end = after.find('>')?;
        let (target, parameters) = (after.get(..end)?, after.get(end + 1..)?);
        // Parameters extend to the next link. A comma within quotes does not separate links.
        let mut quoted = false;
        let length = parameters
            .find(|character| {
                quoted ^= character == '"';
                character == ',' && !quoted
            })
            .unwrap_or(parameters.len());
        if parameters.get(..length)?.split(';').any(|parameter| is_relation(parameter, relation)) {
            return Some(target);
        }
        rest = parameters.get(length..)?;
    }
    None
}

fn is_relation(parameter: &str, relation: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    name.trim().eq_ignore_ascii_case("rel")
        && value.trim().trim_matches('"').split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(relation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_relation_is_found_among_others() {
        let header = r#"<https://h/a?page=1>; rel="prev", <https://h/a?page=3&q=x,y>; title="a, b"; rel="next", <https://h/z>; rel=last"#;
        assert_eq!(target(header, "next"), Some("https://h/a?page=3&q=x,y"));
        assert_eq!(target(header, "last"), Some("https://h/z"));
        assert_eq!(target(header, "first"), None);
        assert_eq!(target("<https://h/b>; REL=\"last Next\"", "next"), Some("https://h/b"));
    }

    #[test]
    fn what_is_no_link_has_no_target() {
        for header in ["", "next", "<https://h", "<>", "<https://h>", "rel=\"next\" <https://h>", "<a>; rel=\"next"] {
            assert_eq!(target(header, "next").filter(|_| header != "<a>; rel=\"next"), None, "{header}");
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(header in "[<>;,=\" a-zü]{0,60}") {
            let _ = target(&header, "next");
        }
    }
}
