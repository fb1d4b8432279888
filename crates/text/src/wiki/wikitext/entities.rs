//! Entities: `&amp;`, `&#65;`, `&#x41;`.

use quick_xml::escape::resolve_html5_entity;

/// The longest name of an entity.
const NAME_LENGTH: usize = 32;

/// Replaces entities, and leaves text that only looks like one.
pub(super) fn decode(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let name =
            rest.bytes().skip(1).take(NAME_LENGTH).position(|byte| !byte.is_ascii_alphanumeric() && byte != b'#');
        let entity =
            name.filter(|length| rest.as_bytes().get(length + 1) == Some(&b';')).map(|length| &rest[1..=length]);
        match entity.and_then(resolve) {
            Some(decoded) => {
                out.push_str(&decoded);
                rest = &rest[entity.map_or(1, |name| name.len() + 2)..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
}

fn resolve(name: &str) -> Option<String> {
    let code = match name.strip_prefix('#') {
        Some(code) => match code.strip_prefix(['x', 'X']) {
            Some(code) => u32::from_str_radix(code, 16).ok()?,
            None => code.parse().ok()?,
        },
        // A space that does not break is a space.
        None if matches!(name, "nbsp" | "ensp" | "emsp" | "thinsp") => return Some(" ".to_owned()),
        None if matches!(name, "shy" | "zwnj" | "zwj" | "lrm" | "rlm") => return Some(String::new()),
        None => return resolve_html5_entity(name).map(str::to_owned),
    };
    let character =
        char::from_u32(code).filter(|character| !character.is_control() || matches!(character, '\t' | '\n'))?;
    Some(if character == '\u{a0}' { " ".to_owned() } else { character.to_string() })
}
