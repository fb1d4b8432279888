//! Writes `[models.NAME]` and the lists that name models into a configuration file, and removes them again. Everything else in the
//! file stays byte for byte, comments included.

use super::calibrated_file::{replace, spliced};
use super::{project_file, trust};
use crate::Error;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

/// The provider of the entries that are written here.
const PROVIDER: &str = "hub";

/// A model of a hub, as a configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelEntry {
    /// The name that other settings use.
    pub name: String,
    /// Its owner and name at the hub.
    pub model: String,
    /// Its commit.
    pub revision: String,
    /// True for a reranker.
    pub reranker: bool,
}

/// A configuration file that gets or loses models: the user's, or a project's.
#[derive(Clone, Debug)]
pub struct ModelFile {
    path: PathBuf,
    /// The user's configuration directory, for a project's file, which stays trusted if it was.
    user_directory: Option<PathBuf>,
    is_project: bool,
}

impl ModelFile {
    /// Names the user's file, which need not exist.
    pub fn of_user(path: &Path) -> Self {
        ModelFile { path: path.to_owned(), user_directory: None, is_project: false }
    }

    /// Names a project's file, which need not exist. `user_directory` holds the list of trusted files.
    pub fn of_project(path: &Path, user_directory: Option<&Path>) -> Self {
        ModelFile { path: path.to_owned(), user_directory: user_directory.map(Path::to_owned), is_project: true }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes `[models.NAME]`. With `used`, `index.models` names it too, as the last and therefore best model, or `rerank.model` does.
    /// Returns `false` if the file says all of it already.
    ///
    /// # Errors
    /// The file cannot be read or written, or gives the name to something else.
    pub fn register(&self, entry: &ModelEntry, used: bool) -> Result<bool, Error> {
        self.edit(|document| {
            put(document.as_table_mut(), entry)?;
            if used {
                use_it(document.as_table_mut(), entry)?;
            }
            Ok(())
        })
    }

    /// Removes every `[models.NAME]` of a model of a hub, and the name wherever `index.models` and `rerank.model` have it. `revision`
    /// spares entries of other revisions. Returns the names.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn unregister(&self, model: &str, revision: Option<&str>) -> Result<Vec<String>, Error> {
        let names = std::cell::RefCell::new(Vec::new());
        self.edit(|document| {
            *names.borrow_mut() = remove(document.as_table_mut(), model, revision);
            Ok(())
        })?;
        Ok(names.into_inner())
    }

    fn edit(&self, change: impl Fn(&mut DocumentMut) -> Result<(), String>) -> Result<bool, Error> {
        let failed = |reason: String| Error::path(&self.path, reason);
        let read = match self.is_project {
            true => project_file::read_text(&self.path),
            false => std::fs::read_to_string(&self.path),
        };
        let (text, is_new) = match read {
            Ok(text) => (text, false),
            Err(error) if error.kind() == ErrorKind::NotFound => (String::new(), true),
            Err(error) => return Err(failed(format!("cannot be read: {error}"))),
        };
        let mut document: DocumentMut = text.parse().map_err(|error| failed(format!("not valid TOML: {error}")))?;
        let before = document.to_string();
        change(&mut document).map_err(failed)?;
        let edited = spliced(&text, &before, &document.to_string());
        if edited == text {
            return Ok(false);
        }
        if edited.parse::<toml::Table>().ok() != document.to_string().parse().ok() {
            return Err(failed("its layout leaves no place for a model; write [models] as tables".to_owned()));
        }
        if let (true, Some(parent)) = (is_new, self.path.parent()) {
            std::fs::create_dir_all(parent).map_err(|error| failed(format!("cannot be made: {error}")))?;
        }
        // The target of a link is replaced, since replacing the link would leave the target as it was.
        let path = dunce::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let trusting = self.user_directory.as_ref().filter(|user| trust::is_trusted(user, &self.path));
        let unwritable = |error: std::io::Error| failed(format!("cannot be written: {error}"));
        replace(&path, &edited).map_err(unwritable)?;
        if let Some(user) = trusting {
            trust::trust(user, &self.path).map_err(unwritable)?;
        }
        Ok(true)
    }
}

/// Returns a table of the file, which is made if it is missing.
fn table<'a>(root: &'a mut Table, name: &str) -> Result<&'a mut dyn TableLike, String> {
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let item = root.entry(name).or_insert(Item::Table(implicit));
    item.as_table_like_mut().ok_or_else(|| format!("{name} is no table"))
}

fn is_hub(item: &Item, model: &str) -> bool {
    let is = |key: &str, text: &str| item.get(key).and_then(Item::as_str) == Some(text);
    is("provider", PROVIDER) && is("model", model)
}

fn put(root: &mut Table, entry: &ModelEntry) -> Result<(), String> {
    let is_first = root.is_empty();
    let models = table(root, "models")?;
    if let Some(taken) = models.get(&entry.name)
        && !is_hub(taken, &entry.model)
    {
        return Err(format!("[models.{}] is another model; choose another name", entry.name));
    }
    if !models.contains_key(&entry.name) {
        let mut table = Table::new();
        table.decor_mut().set_prefix(if is_first { "" } else { "\n" });
        models.insert(&entry.name, Item::Table(table));
    }
    let Some(table) = models.get_mut(&entry.name).and_then(Item::as_table_like_mut) else {
        return Err(format!("models.{} is no table", entry.name));
    };
    set(table, "provider", PROVIDER);
    set(table, "model", &entry.model);
    set(table, "revision", &entry.revision);
    match entry.reranker {
        true if table.get("reranker").and_then(Item::as_bool) != Some(true) => {
            table.insert("reranker", value(true));
        }
        true => {}
        false => drop(table.remove("reranker")),
    }
    Ok(())
}

/// Sets a text, and keeps the comment beside the old one.
fn set(table: &mut dyn TableLike, key: &str, text: &str) {
    match table.get_mut(key) {
        Some(item) if item.as_str() == Some(text) => {}
        Some(item) => {
            let mut new = toml_edit::Value::from(text);
            if let Some(old) = item.as_value() {
                *new.decor_mut() = old.decor().clone();
            }
            *item = Item::Value(new);
        }
        None => drop(table.insert(key, value(text))),
    }
}

fn use_it(root: &mut Table, entry: &ModelEntry) -> Result<(), String> {
    if entry.reranker {
        set(explicit(root, "rerank")?, "model", &entry.name);
        return Ok(());
    }
    let index = explicit(root, "index")?;
    if !index.contains_key("models") {
        index.insert("models", value(Array::from_iter(["static"])));
    }
    let Some(models) = index.get_mut("models").and_then(Item::as_array_mut) else {
        return Err("index.models is no list".to_owned());
    };
    if !models.iter().any(|name| name.as_str() == Some(&entry.name)) {
        models.push(entry.name.as_str());
    }
    Ok(())
}

/// Returns a table of the file under its own heading. A new one gets its heading at the end.
fn explicit<'a>(root: &'a mut Table, name: &str) -> Result<&'a mut dyn TableLike, String> {
    if !root.contains_key(name) {
        let mut table = Table::new();
        table.decor_mut().set_prefix("\n");
        root.insert(name, Item::Table(table));
    }
    table(root, name)
}

fn remove(root: &mut Table, model: &str, revision: Option<&str>) -> Vec<String> {
    let Some(models) = root.get_mut("models").and_then(Item::as_table_like_mut) else { return Vec::new() };
    let is_meant = |item: &Item| {
        let own = item.get("revision").and_then(Item::as_str);
        is_hub(item, model) && (revision.is_none() || own.is_none() || own == revision)
    };
    let names: Vec<String> =
        models.iter().filter(|(_, item)| is_meant(item)).map(|(name, _)| name.to_owned()).collect();
    names.iter().for_each(|name| drop(models.remove(name)));
    let is_named = |text: Option<&str>| text.is_some_and(|text| names.iter().any(|name| name == text));
    if let Some(list) = root.get_mut("index").and_then(|index| index.get_mut("models")).and_then(Item::as_array_mut) {
        list.retain(|name| !is_named(name.as_str()));
        if list.is_empty()
            && let Some(index) = root.get_mut("index").and_then(Item::as_table_like_mut)
        {
            index.remove("models");
        }
    }
    if let Some(rerank) = root.get_mut("rerank").and_then(Item::as_table_like_mut)
        && is_named(rerank.get("model").and_then(Item::as_str))
    {
        rerank.remove("model");
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Origins};
    use std::fs;

    fn entry() -> ModelEntry {
        let revision = "0123456789".repeat(4);
        ModelEntry { name: "e5".to_owned(), model: "intfloat/e5-small-v2".to_owned(), revision, reranker: false }
    }

    fn file(text: &str) -> (tempfile::TempDir, ModelFile) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("config.toml");
        fs::write(&path, text).expect("written");
        (directory, ModelFile::of_user(&path))
    }

    fn text(file: &ModelFile) -> String {
        fs::read_to_string(file.path()).expect("read")
    }

    const TABLE: &str = "[models.e5]\nprovider = \"hub\"\nmodel = \"intfloat/e5-small-v2\"\n\
        revision = \"0123456789012345678901234567890123456789\"\n";

    #[test]
    fn a_model_is_written_used_and_removed() {
        let (directory, _) = file("");
        let file = ModelFile::of_user(&directory.path().join("new/config.toml"));
        assert!(file.register(&entry(), false).expect("written"));
        assert_eq!(text(&file), TABLE);
        assert!(!file.register(&entry(), false).expect("unchanged"));
        assert!(file.register(&entry(), true).expect("written"));
        assert_eq!(text(&file), format!("{TABLE}\n[index]\nmodels = [\"static\", \"e5\"]\n"));
        let origins = Origins { user: Some(file.path().to_owned()), ..Origins::default() };
        assert_eq!(Config::load(&origins, None).expect("valid").index.models, ["static", "e5"]);
        assert_eq!(file.unregister("intfloat/other", None).expect("read"), [""; 0]);
        assert_eq!(file.unregister("intfloat/e5-small-v2", None).expect("removed"), ["e5"]);
        assert_eq!(text(&file).trim(), "[index]\nmodels = [\"static\"]");

        let old = TABLE.replace("0123456789012345678901234567890123456789\"", "main\" # pinned");
        let (_directory, file) = self::file(&format!("{old}query_prefix = \"q: \"\n"));
        file.register(&entry(), false).expect("written");
        let written = text(&file);
        assert!(written.contains("0123456789\" # pinned\nquery_prefix = \"q: \"\n"), "{written}");

        let (_directory, file) = self::file("[rerank]\ntimeout_ms = 500 # few\n");
        let reader = ModelEntry { reranker: true, ..entry() };
        file.register(&reader, true).expect("written");
        assert!(text(&file).contains("timeout_ms = 500 # few\nmodel = \"e5\"\n"), "{}", text(&file));
        let origins = Origins { user: Some(file.path().to_owned()), ..Origins::default() };
        assert_eq!(Config::load(&origins, None).expect("valid").rerank.model.as_deref(), Some("e5"));
        file.unregister(&reader.model, Some(&reader.revision)).expect("removed");
        assert_eq!(text(&file).trim(), "[rerank]\ntimeout_ms = 500 # few");
    }

    #[test]
    fn trap_comments_are_kept_byte_for_byte() {
        let before = "\u{feff}# mine\r\n[index] # here\r\nmodels   = [ \"static\",\"minilm\" ]  # two\r\n\r\n[models.house]\r\n\
                      provider = \"directory\" # ours\r\npath=\"m\"\r\n# end\r\n";
        let (_directory, file) = file(before);
        file.register(&entry(), false).expect("written");
        let written = text(&file);
        for line in before.lines() {
            assert!(written.contains(&format!("{line}\r\n")), "{line:?} is not in {written:?}");
        }
        assert!(written.contains(&TABLE.replace('\n', "\r\n")), "{written:?}");
        file.register(&entry(), true).expect("written");
        let used = text(&file);
        assert!(
            used.contains("\"static\",\"minilm\"") && used.contains("\"e5\"") && used.contains("# two"),
            "{used:?}"
        );
    }

    #[test]
    fn a_name_that_is_taken_and_broken_files_are_refused() {
        for (text, said) in [
            ("[models.e5]\nprovider = \"directory\"\npath = \"m\"\n", "another model"),
            ("models = 5\n", "models is no table"),
            ("models = ", "not valid TOML"),
            ("index = 5\n", "index is no table"),
            ("[index]\nmodels = 5\n", "index.models is no list"),
        ] {
            let (_directory, file) = file(text);
            let error = file.register(&entry(), true).expect_err(text).to_string();
            assert!(error.contains(said) && error.contains("config.toml"), "{error}");
            assert_eq!(self::text(&file), text);
        }
    }

    #[test]
    fn a_trusted_project_stays_trusted() {
        let (directory, user_file) = file("[search]\ntop_k = 5\n");
        let (path, user) = (user_file.path(), directory.path().join("user"));
        trust::trust(&user, path).expect("trusted");
        let file = ModelFile::of_project(path, Some(&user));
        file.register(&entry(), true).expect("written");
        assert!(trust::is_trusted(&user, path));
    }
}
