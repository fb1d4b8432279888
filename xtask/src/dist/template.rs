//! Templates: `@NAME@` stands for a value.

use super::project::Project;
use crate::run::root;
use anyhow::{Context, Result, ensure};
use std::fs;

/// Fills a file of `packaging/` with the facts of the project and further values.
///
/// # Errors
/// The file cannot be read, or a name in it has no value.
pub fn fill(file: &str, project: &Project, more: &[(&str, &str)]) -> Result<String> {
    let path = root().join("packaging").join(file);
    let template = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let facts = [
        ("VERSION", project.version.as_str()),
        ("REPOSITORY", project.repository.as_str()),
        ("DESCRIPTION", project.description.as_str()),
    ];
    let values: Vec<(&str, &str)> = facts.into_iter().chain(more.iter().copied()).collect();
    filled(&template, &values).with_context(|| format!("packaging/{file}"))
}

fn filled(template: &str, values: &[(&str, &str)]) -> Result<String> {
    let mut text = template.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("@{name}@"), value);
    }
    let parts: Vec<&str> = text.split('@').collect();
    let is_name = |part: &&&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let left = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default().iter().find(is_name);
    ensure!(left.is_none(), "@{}@ has no value", left.unwrap_or(&""));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_their_values_and_none_is_left() {
        let values = [("VERSION", "1.2.3"), ("NAME", "tamis")];
        assert_eq!(filled("@NAME@ @VERSION@, mail a@b", &values).expect("filled"), "tamis 1.2.3, mail a@b");
        let error = filled("@NAME@ @SIZE@", &values).expect_err("no size");
        assert_eq!(error.to_string(), "@SIZE@ has no value");
    }
}
