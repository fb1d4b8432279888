//! `[search.calibrated]`: the thresholds that `tamis calibrate` measured, and the model that they hold for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use tamis_text::{LANGUAGES, Language};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::error::{ConfigError, Source, nearest};
use super::{Config, project_file, trust};
use crate::file::replace_whole;

/// The names in the table besides those of languages.
pub(crate) const PROVIDER: &str = "provider";
pub(crate) const MODEL: &str = "model";
pub(crate) const CALIBRATED_AT: &str = "calibrated_at";

/// `[search.calibrated]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibratedConfig {
    /// The provider of the model: `static`, `mini-lm`, `local` or `remote`.
    pub provider: String,
    /// The model's identifier.
    pub model: String,
    /// The time of the measurement, if the file gives it.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub calibrated_at: Option<Timestamp>,
    /// Thresholds, -1 to 1, by the name of the language.
    #[serde(flatten)]
    pub thresholds: BTreeMap<String, f64>,
    /// The file that holds the table.
    #[serde(skip)]
    pub source: Source,
}

fn as_text<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(time),
        None => serializer.serialize_none(),
    }
}

/// Takes the table out of a file's content. `None` if it is missing or empty.
pub(crate) fn take(
    document: &mut toml::Table,
    path: &Path,
    source: &Source,
) -> Result<Option<CalibratedConfig>, ConfigError> {
    let wrong = |key: &str, value: &toml::Value, allowed: &str| {
        let key = format!("search.calibrated{}{key}", if key.is_empty() { "" } else { "." });
        ConfigError::in_file(path, key, value.to_string(), allowed)
    };
    let search = document.get_mut("search").and_then(toml::Value::as_table_mut);
    let mut table = match search.and_then(|search| search.remove("calibrated")) {
        None => return Ok(None),
        Some(toml::Value::Table(table)) if table.is_empty() => return Ok(None),
        Some(toml::Value::Table(table)) => table,
        Some(other) => return Err(wrong("", &other, "the table that `tamis calibrate` writes")),
    };
    let mut text = |name: &str| match table.remove(name) {
        Some(toml::Value::String(text)) if !text.is_empty() => Ok(text),
        Some(other) => Err(wrong(name, &other, "a text")),
        None => {
            Err(wrong(name, &"".into(), "set to what the thresholds were measured with; run `tamis calibrate` again"))
        }
    };
    let (provider, model) = (text(PROVIDER)?, text(MODEL)?);
    let time = |value: toml::Value| {
        match &value {
            toml::Value::String(text) => text.parse().ok(),
            toml::Value::Datetime(time) => time.to_string().parse().ok(),
            _ => None,
        }
        .ok_or_else(|| wrong(CALIBRATED_AT, &value, "a time such as \"2026-01-31T12:00:00Z\""))
    };
    let calibrated_at = table.remove(CALIBRATED_AT).map(time).transpose()?;

    let mut thresholds = BTreeMap::new();
    for (name, value) in table {
        let language = Language::resolve(&name).ok_or_else(|| ConfigError::UnknownKey {
            source_name: path.display().to_string(),
            key: format!("search.calibrated.{name}"),
            nearest: nearest_language(&name).map(|near| format!("search.calibrated.{near}")),
        })?;
        let number = match &value {
            toml::Value::Integer(number) => Some(*number as f64),
            toml::Value::Float(number) => Some(*number),
            _ => None,
        };
        let number = number.filter(|number| (-1.0..=1.0).contains(number));
        let number = number.ok_or_else(|| wrong(&name, &value, "-1 to 1"))?;
        if thresholds.insert(threshold_language(language.name).to_owned(), number).is_some() {
            return Err(wrong(&name, &value, "left out, since the table has this threshold under another name too"));
        }
    }
    Ok(Some(CalibratedConfig { provider, model, calibrated_at, thresholds, source: source.clone() }))
}

// Writes `[search.calibrated]` into a project's configuration file and removes it again. Everything else in the file stays
// byte for byte, comments included.

/// The comment above a new table.
const HEADING: &str = "# Measured by `tamis calibrate`; a value in [search.thresholds] goes before it.\n";

impl Config {
    /// Writes `calibrated` as `[search.calibrated]` into the project's file, or removes the table. Thresholds of other languages
    /// measured with the same model stay. A file that the user trusts stays trusted. Returns the file, or `None` if there was
    /// nothing to write or remove.
    pub(crate) fn write_calibrated(&self, calibrated: Option<&CalibratedConfig>) -> io::Result<Option<PathBuf>> {
        let Some(path) = &self.project_file else { return Ok(None) };
        let text = match project_file::read_text(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && calibrated.is_some() => String::new(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // The target of a link is replaced, since replacing the link would leave the target as it was.
        let path = dunce::canonicalize(path).unwrap_or_else(|_| path.clone());
        let edited = edited(&text, calibrated).map_err(|reason| io::Error::new(io::ErrorKind::InvalidData, reason))?;
        if edited == text {
            return Ok(calibrated.map(|_| path));
        }
        let trusting = self.user_directory.as_ref().filter(|user| trust::is_trusted(user, &path));
        replace(&path, &edited)?;
        if let Some(user) = trusting {
            trust::trust(user, &path)?;
        }
        Ok(Some(path))
    }
}

/// Returns the text with the table, or without it.
fn edited(text: &str, calibrated: Option<&CalibratedConfig>) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("not valid TOML: {error}"))?;
    let before = document.to_string();
    match calibrated {
        Some(calibrated) => put(document.as_table_mut(), calibrated, before.trim().is_empty())?,
        None => remove(document.as_table_mut()),
    }
    let written = spliced(text, &before, &document.to_string());
    // People wrote the rest of the file, so nothing but the table may change, whatever its layout.
    let is_kept = matches!((rest(text), rest(&written)), (Some(before), Some(after)) if before == after);
    if !is_kept {
        return Err("[search.calibrated] has no place between its other values; write [search] as a table".into());
    }
    Ok(written)
}

/// Applies the lines in which `after` differs from `before` to `text`. The editor wrote both with Unix line ends and without a
/// byte order mark; the other lines of the file keep theirs.
pub(crate) fn spliced(text: &str, before: &str, after: &str) -> String {
    let lines = |text| -> Vec<&str> { str::split_inclusive(text, '\n').collect() };
    let (text, before, after) = (lines(text), lines(before), lines(after));
    let common =
        |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(one, other)| one == other).count();
    let head = common(&mut before.iter().zip(&after));
    let tail = common(&mut before[head..].iter().rev().zip(after[head..].iter().rev()));
    let ending = if text.iter().any(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let head_text = &text[..head.min(text.len())];
    let tail_text = &text[text.len().saturating_sub(tail).max(head_text.len())..];
    let new = &after[head..after.len() - tail];
    let mut spliced = head_text.concat();
    let goes_on = !new.is_empty() || !tail_text.is_empty();
    if goes_on && !spliced.is_empty() && !spliced.ends_with('\n') {
        spliced.push_str(ending);
    }
    new.iter().for_each(|line| spliced.extend([line.trim_end_matches('\n'), ending]));
    spliced + &tail_text.concat()
}

/// The values of a file without the table; `None` for invalid TOML.
fn rest(text: &str) -> Option<toml::Table> {
    let mut values: toml::Table = text.parse().ok()?;
    if let Some(search) = values.get_mut("search").and_then(toml::Value::as_table_mut) {
        search.remove("calibrated");
        if search.is_empty() {
            values.remove("search");
        }
    }
    Some(values)
}

fn put(root: &mut Table, calibrated: &CalibratedConfig, is_first: bool) -> Result<(), String> {
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let search = root.entry("search").or_insert(Item::Table(implicit));
    let is_inline = search.is_inline_table();
    let search = search.as_table_like_mut().ok_or("search is no table")?;
    if !search.contains_key("calibrated") {
        let mut table = Table::new();
        table.decor_mut().set_prefix(format!("{}{HEADING}", if is_first { "" } else { "\n" }));
        let inline = || Item::Value(Value::InlineTable(InlineTable::new()));
        search.insert("calibrated", if is_inline { inline() } else { Item::Table(table) });
    }
    let table = search.get_mut("calibrated").and_then(Item::as_table_like_mut);
    fill(table.ok_or("search.calibrated is no table")?, calibrated);
    Ok(())
}

fn fill(table: &mut dyn TableLike, calibrated: &CalibratedConfig) {
    let is = |table: &dyn TableLike, key: &str, text: &str| table.get(key).and_then(Item::as_str) == Some(text);
    let same_model = is(table, PROVIDER, &calibrated.provider) && is(table, MODEL, &calibrated.model);
    let replaced = |name: &str| match Language::resolve(name).map(|language| threshold_language(language.name)) {
        _ if [PROVIDER, MODEL, CALIBRATED_AT].contains(&name) => false,
        Some(language) if same_model => calibrated.thresholds.contains_key(language) && language != name,
        _ => !calibrated.thresholds.contains_key(name),
    };
    let gone: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).filter(|name| replaced(name)).collect();
    gone.iter().for_each(|name| drop(table.remove(name)));

    set(table, PROVIDER, calibrated.provider.as_str().into());
    set(table, MODEL, calibrated.model.as_str().into());
    match calibrated.calibrated_at {
        Some(time) => set(table, CALIBRATED_AT, time.to_string().into()),
        None => drop(table.remove(CALIBRATED_AT)),
    }
    calibrated.thresholds.iter().for_each(|(language, threshold)| set(table, language, (*threshold).into()));
}

/// Sets a value, and keeps the comment beside the old one.
fn set(table: &mut dyn TableLike, name: &str, mut value: Value) {
    match table.get_mut(name) {
        Some(item) => {
            if let Some(old) = item.as_value() {
                *value.decor_mut() = old.decor().clone();
            }
            *item = Item::Value(value);
        }
        None => drop(table.insert(name, Item::Value(value))),
    }
}

/// Removes the table. A heading below somebody's comment stays, and its table is then empty.
fn remove(root: &mut Table) {
    let Some(search) = root.get_mut("search").and_then(Item::as_table_like_mut) else { return };
    let is_commented = |table: &Table| {
        let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        !prefix.replace(HEADING, "").trim().is_empty()
    };
    match search.get_mut("calibrated").and_then(Item::as_table_mut) {
        Some(table) if is_commented(table) => table.clear(),
        _ => drop(search.remove("calibrated")),
    }
}

/// Replaces a file atomically: readers see the whole old text or the whole new one.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let before = match fs::metadata(path) {
        Ok(known) if known.permissions().readonly() => {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        known => known.ok(),
    };
    replace_whole(path, text.as_bytes(), before.as_ref(), 0o666)
}

// The language whose threshold applies to a passage's language.

/// Returns the language whose threshold applies to a language: that of TypeScript for TSX, JavaScript and JSX, and that of the
/// base language for every other dialect.
///
/// ```
/// use tamis::config::threshold_language;
/// assert_eq!(threshold_language("jsx"), "typescript");
/// assert_eq!(threshold_language("rust"), "rust");
/// ```
#[must_use]
pub fn threshold_language(language: &str) -> &str {
    let base = Language::from_name(language).map_or(language, |found| found.base_name());
    if base == "javascript" { "typescript" } else { base }
}

/// Returns the language name that is nearest to a text.
pub(crate) fn nearest_language(text: &str) -> Option<&'static str> {
    let names = |language: &'static Language| [language.name].into_iter().chain(language.aliases.split_whitespace());
    nearest(&text.to_lowercase(), LANGUAGES.iter().flat_map(names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Origins, Source};
    use proptest::prelude::*;

    fn calibrated(thresholds: &[(&str, f64)]) -> CalibratedConfig {
        CalibratedConfig {
            provider: "static".into(),
            model: "static-256-v1".into(),
            calibrated_at: Some("2026-01-31T12:00:00Z".parse().expect("a time")),
            thresholds: thresholds.iter().map(|&(language, threshold)| (language.to_owned(), threshold)).collect(),
            source: Source::BuiltIn,
        }
    }

    const TABLE: &str = "\
# Measured by `tamis calibrate`; a value in [search.thresholds] goes before it.
[search.calibrated]
provider = \"static\"
model = \"static-256-v1\"
calibrated_at = \"2026-01-31T12:00:00Z\"
rust = 0.5123
";

    #[test]
    fn the_table_alone_is_changed() {
        assert_eq!(edited("", Some(&calibrated(&[("rust", 0.5123)]))).as_deref(), Ok(TABLE));
        assert_eq!(edited(TABLE, None).as_deref(), Ok(""));

        let text = "[search.calibrated] # ours\nprovider = \"static\" # a\nmodel = \"static-256-v1\"\nts = 0.4\nrust = 0.4 # low\n\
                    python = 0.3\n\n# next\n[rank]\n";
        let written = edited(text, Some(&calibrated(&[("rust", 0.5), ("typescript", 0.45)]))).expect("written");
        assert_eq!(
            written,
            "[search.calibrated] # ours\nprovider = \"static\" # a\nmodel = \"static-256-v1\"\nrust = 0.5 # low\npython = 0.3\n\
             calibrated_at = \"2026-01-31T12:00:00Z\"\ntypescript = 0.45\n\n# next\n[rank]\n",
        );
        let other_model = CalibratedConfig { model: "minilm-l6-v2-int8".into(), ..calibrated(&[("rust", 0.6)]) };
        let written = edited(&written, Some(&other_model)).expect("written");
        assert!(written.contains("rust = 0.6 # low\n") && !written.contains("python"), "{written}");

        let written = edited("search = { top_k = 5 } # all\n", Some(&calibrated(&[("rust", 0.5)]))).expect("written");
        assert!(written.starts_with("search = { top_k = 5"), "{written}");
        assert!(written.ends_with("rust = 0.5 } } # all\n"), "{written}");
        assert!(edited("search = 5\n", Some(&calibrated(&[]))).is_err());
        assert!(edited("search = ", Some(&calibrated(&[]))).is_err());

        let text = format!("# ask Ada before changing this\n{TABLE}");
        assert_eq!(
            edited(&text, None).as_deref(),
            Ok(
                "# ask Ada before changing this\n# Measured by `tamis calibrate`; a value in [search.thresholds] goes before it.\n\
                [search.calibrated]\n"
            )
        );
    }

    #[test]
    fn a_trusted_file_stays_trusted_and_an_unwritable_one_is_an_error() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (project, user) = (directory.path().join("config.toml"), directory.path().join("user"));
        let load = || {
            let origins = Origins { project: Some(project.clone()), ..Origins::default() };
            Config::load(&origins, Some(user.clone())).expect("valid")
        };
        let values = calibrated(&[("rust", 0.5)]);
        assert_eq!(load().write_calibrated(None).expect("nothing to do"), None);
        assert!(load().write_calibrated(Some(&values)).expect("made").is_some());
        assert!(!trust::is_trusted(&user, &project), "writing trusts nothing by itself");

        fs::write(&project, "[search]\ntop_k = 5\n").expect("written");
        trust::trust(&user, &project).expect("trusted");
        load().write_calibrated(Some(&values)).expect("written");
        assert!(trust::is_trusted(&user, &project));
        assert_eq!(load().thresholds.calibrated.map(|read| read.thresholds), Some(values.thresholds.clone()));
        assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 2, "no temporary file is left");

        let mut permissions = fs::metadata(&project).expect("there").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&project, permissions).expect("set");
        let before = fs::read_to_string(&project).expect("read");
        assert!(load().write_calibrated(Some(&calibrated(&[("rust", 0.6)]))).is_err());
        assert_eq!(fs::read_to_string(&project).expect("read"), before);
    }

    proptest! {
        #[test]
        fn other_lines_never_change(
            lines in prop::collection::vec(
                prop_oneof![
                    Just("# a comment".to_owned()),
                    Just(String::new()),
                    Just("[search]".to_owned()),
                    Just("top_k = 5  # five".to_owned()),
                    Just("[search.thresholds]".to_owned()),
                    Just("rust = 0.7".to_owned()),
                    Just("[rank]".to_owned()),
                    Just("test   =  0.5".to_owned()),
                ],
                0..12,
            ),
            endings in prop::collection::vec(prop_oneof![Just("\n"), Just("\r\n")], 12),
        ) {
            let text: String = lines.iter().zip(&endings).map(|(line, ending)| format!("{line}{ending}")).collect();
            prop_assume!(text.parse::<toml::Table>().is_ok());
            let written = edited(&text, Some(&calibrated(&[("rust", 0.5)]))).expect("written");
            let mut left = written.split_inclusive('\n');
            for line in text.split_inclusive('\n') {
                prop_assert!(left.any(|other| other == line), "{line:?} of {text:?} is not in {written:?}");
            }
            let again = edited(&written, Some(&calibrated(&[("rust", 0.5)])));
            prop_assert_eq!(again.as_ref(), Ok(&written), "writing the same again changes nothing");
            let values: toml::Table = written.parse().expect("TOML");
            prop_assert_eq!(values["search"]["calibrated"]["rust"].as_float(), Some(0.5));
        }
    }

    #[test]
    fn dialects_and_javascript_take_the_threshold_of_typescript() {
        for case in [
            "tsx => typescript", "jsx => typescript", "javascript => typescript", "typescript => typescript",
            "rust => rust", "klingon => klingon",
        ] {
            let (language, expected) = case.split_once(" => ").expect("two parts");
            assert_eq!(threshold_language(language), expected);
        }
    }
}
