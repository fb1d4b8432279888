//! The list of views.

use super::text::{label, visible};
use crate::page::Page;
use owo_colors::OwoColorize;
use std::io;
use tamis::evidence::{ParameterType, SqlValue, ViewDescription, ViewParameter};

/// Writes each view with its question and its parameters.
///
/// # Errors
/// `out` cannot be written.
pub fn views(out: &mut dyn Page, views: &[ViewDescription]) -> io::Result<()> {
    for (number, view) in views.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        write!(out, "{}", label(&view.name).bold())?;
        if let Some(file) = &view.file {
            let file = file.display().to_string();
            write!(out, "  {}", visible(&file).dimmed())?;
        }
        writeln!(out)?;
        match &view.error {
            Some(error) => writeln!(out, "  {} {}", "cannot be used:".red(), visible(error))?,
            None => writeln!(out, "  {}", visible(&view.answers))?,
        }
        let width = view.parameters.iter().map(|parameter| form(parameter).chars().count()).max().unwrap_or(0);
        for parameter in &view.parameters {
            let form = form(parameter);
            writeln!(out, "    {form:<width$}  {}", visible(&parameter.meaning).dimmed())?;
        }
    }
    Ok(())
}

/// `NAME=TYPE`, or `NAME=DEFAULT`.
fn form(parameter: &ViewParameter) -> String {
    let kind = match parameter.kind {
        ParameterType::Text => "TEXT",
        ParameterType::Integer => "INTEGER",
        ParameterType::Number => "NUMBER",
        ParameterType::Time => "TIME",
    };
    let value = match &parameter.default {
        None | Some(SqlValue::Null) => kind.to_owned(),
        Some(SqlValue::Text(text)) => text.clone(),
        Some(SqlValue::Integer(number)) => number.to_string(),
        Some(SqlValue::Real(number)) => number.to_string(),
    };
    let needed = if parameter.required { " (needed)" } else { "" };
    visible(&format!("{}={value}{needed}", parameter.name)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::plain;

    #[test]
    fn what_cannot_be_used_says_why() {
        let parameter = |name: &str, default, required| ViewParameter {
            name: name.to_owned(),
            kind: ParameterType::Integer,
            default,
            required,
            meaning: format!("what {name} does"),
        };
        let view = |name: &str| ViewDescription {
            name: name.to_owned(),
            answers: "What is there?".to_owned(),
            columns: Vec::new(),
            parameters: Vec::new(),
            file: None,
            error: None,
        };
        let fit = ViewDescription {
            parameters: vec![parameter("a", Some(SqlValue::Integer(3)), false), parameter("bcd", None, true)],
            ..view("v_one")
        };
        let broken = ViewDescription {
            file: Some("/views/two.sql.j2".into()),
            error: Some("two.sql.j2: line 2: \u{1b}wrong".to_owned()),
            ..view("two")
        };
        let printed = plain(|out| views(out, &[fit, broken]));
        let expected = "v_one\n  What is there?\n    a=3                   what a does\n    bcd=INTEGER (needed)  what bcd does\n\n\
                        two  /views/two.sql.j2\n  cannot be used: two.sql.j2: line 2: ␛wrong\n";
        assert_eq!(printed, expected);
    }
}
