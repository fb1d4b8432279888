//! Flag values read from text; errors say what is allowed.

use jiff::Timestamp;
use tamis::cut::{Rule, parse};
use tamis::text::{LANGUAGES, Language};

/// A whole number in a closed range.
fn whole(text: &str, low: usize, high: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (low..=high).contains(number));
    number.ok_or_else(|| match high {
        usize::MAX => format!("must be a whole number of at least {low}"),
        _ => format!("must be a whole number from {low} to {high}"),
    })
}

/// The most results to show.
pub fn limit(text: &str) -> Result<usize, String> {
    whole(text, 1, 1000)
}

/// The most rows of a table.
pub fn rows(text: &str) -> Result<usize, String> {
    whole(text, 1, tamis::evidence::MOST_SQL_ROWS)
}

/// A statement's time limit in milliseconds.
pub fn milliseconds(text: &str) -> Result<u64, String> {
    Ok(whole(text, 1, tamis::evidence::LONGEST_SQL_TIME.as_millis() as usize)? as u64)
}

/// The most matches of an evidence search.
pub fn matches(text: &str) -> Result<usize, String> {
    whole(text, 1, 50)
}

/// A wait in minutes, up to a day.
pub fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.0..=1440.0).contains(minutes));
    minutes.ok_or_else(|| "must be a number of minutes from 0 to 1440".into())
}

/// The lines around the best one.
pub fn context(text: &str) -> Result<usize, String> {
    whole(text, 0, 500)
}

/// A count of at least one.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    whole(text, 1, usize::MAX)
}

/// A count.
pub fn count(text: &str) -> Result<usize, String> {
    whole(text, 0, usize::MAX)
}

/// A share, from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be a number from 0 to 1".into())
}

/// A finite number.
pub fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "must be a finite number".into())
}

/// The share of pairs that a simulated judge is wrong about.
pub fn judge_error(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share: &f64| *share > 0.0 && *share < 0.5);
    share.ok_or_else(|| "must be a number above 0 and below 0.5".into())
}

/// A name, or several separated by commas, none of them empty.
pub fn named(text: &str) -> Result<String, String> {
    let empty = text.split(',').any(|name| name.trim().is_empty());
    if empty { Err("must not be empty".into()) } else { Ok(text.trim().to_owned()) }
}

/// A moment as people write it, from now and in the user's time zone.
pub fn moment(text: &str) -> Result<Timestamp, String> {
    tamis::dates::moment(text, &tamis::dates::now()).map_err(|error| error.to_string())
}

/// The canonical name behind a name, an alias or a file extension.
pub fn base_language(text: &str) -> Result<&'static str, String> {
    Language::resolve(text).map(|language| language.name).ok_or_else(|| unknown(&text.trim().to_lowercase()))
}

/// A cut method with its parameters.
pub fn cut(text: &str) -> Result<Box<dyn Rule>, String> {
    parse(text).map_err(|error| error.to_string())
}

/// The canonical names behind a name, an alias or a file extension. TypeScript and JavaScript include their dialects with
/// markup.
pub fn language(text: &str) -> Result<Vec<&'static str>, String> {
    let found = Language::selection(text);
    if found.is_empty() {
        return Err(unknown(&text.trim().trim_start_matches('.').to_lowercase()));
    }
    Ok(found.iter().map(|language| language.name).collect())
}

fn unknown(text: &str) -> String {
    let names =
        LANGUAGES.iter().flat_map(|language| std::iter::once(language.name).chain(language.aliases.iter().copied()));
    let nearest = names
        .map(|name| (strsim::normalized_damerau_levenshtein(text, name), name))
        .filter(|(similarity, _)| *similarity >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((_, name)) => format!("unknown language; did you mean {name}?"),
        None => "unknown language; use a name such as rust, python, markdown, or a file extension such as rs".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_go_by_name_alias_and_extension() {
        for (text, expected) in [
            ("rust", vec!["rust"]),
            ("Rust", vec!["rust"]),
            ("rs", vec!["rust"]),
            (".py", vec!["python"]),
            ("C++", vec!["cpp"]),
            ("c#", vec!["csharp"]),
            ("Objective-C", vec!["objectivec"]),
            ("bash", vec!["shell"]),
            ("golang", vec!["go"]),
            ("ts", vec!["typescript"]),
            ("typescript", vec!["typescript", "tsx"]),
            ("common-lisp", vec!["common_lisp"]),
        ] {
            assert_eq!(language(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_unknown_language_names_the_nearest() {
        assert!(language("pyton").is_err_and(|error| error.contains("did you mean python?")));
        assert!(language("qqqqqq").is_err_and(|error| error.contains("such as rust")));
        assert!(language("").is_err());
    }

    #[test]
    fn moments_are_those_of_the_library() {
        assert_eq!(moment("2026-11-01T08:30Z").map(|moment| moment.to_string()), Ok("2026-11-01T08:30:00Z".into()));
        assert!(moment("-7d").is_err_and(|error| error.contains("how long ago (7d")));
    }

    #[test]
    fn a_number_outside_its_range_names_the_range() {
        assert_eq!(limit("1000"), Ok(1000));
        for wrong in ["0", "1001", "-1", "ten", "", "1.5"] {
            assert_eq!(limit(wrong), Err("must be a whole number from 1 to 1000".into()), "{wrong}");
        }
        assert_eq!(at_least_one("0"), Err("must be a whole number of at least 1".into()));
        assert_eq!(context("0"), Ok(0));
        assert!(finite("inf").is_err() && finite("x").is_err());
        assert_eq!(finite("-0.5"), Ok(-0.5));
    }
}
