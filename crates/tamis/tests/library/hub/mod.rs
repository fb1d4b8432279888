//! Models fetched by name from a hub in this process.

mod faults;
mod models;
mod server;
mod settings;

use server::{Hub, Repository};
use std::path::{Path, PathBuf};
use tamis::config::{Config, ModelEntry, ModelFile, Origins, UserDirectories};
use tamis::hub::{AddRequest, Added, HubAccess, ModelKind, ModelsDirectory, add};
use tamis::{Error, Models};

/// A user with directories of their own, and a hub with one model.
pub(crate) struct User {
    home: tempfile::TempDir,
    pub(crate) hub: Hub,
    pub(crate) token: Option<&'static str>,
}

/// The name of the only model.
pub(crate) const NAME: &str = "house/tiny";

impl User {
    pub(crate) fn of(repository: Repository) -> Self {
        User::with(&[(NAME, repository)])
    }

    pub(crate) fn with(repositories: &[(&str, Repository)]) -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        User { home, hub: Hub::start(repositories), token: None }
    }

    pub(crate) fn directories(&self) -> UserDirectories {
        let home = self.home.path();
        UserDirectories::at(Some(home.join("config")), Some(home.join("cache")))
    }

    pub(crate) fn models(&self) -> ModelsDirectory {
        ModelsDirectory::new(&self.directories()).expect("a directory")
    }

    pub(crate) fn request(&self, name: &str) -> AddRequest {
        AddRequest::new(name.parse().expect("a name"))
    }

    pub(crate) fn add(&self, request: &AddRequest) -> Result<Added, Error> {
        let variable = |name: &str| match name {
            "HF_ENDPOINT" => Some(self.hub.url.clone()),
            "HF_TOKEN" => self.token.map(str::to_owned),
            _ => None,
        };
        add(request, &HubAccess::from_environment(variable).expect("valid"), &self.models(), &())
    }

    pub(crate) fn added(&self) -> Added {
        self.add(&self.request(NAME)).expect("added")
    }

    /// The message of a failure, after which no model is there.
    pub(crate) fn refused(&self, request: &AddRequest) -> String {
        let error = self.add(request).expect_err("refused").to_string();
        assert!(self.models().installed().is_empty(), "{error}");
        assert!(!error.contains("sesame") && !error.contains('\u{1b}') && !error.contains("secret"), "{error:?}");
        error
    }

    /// The model under the name `m`, with these further keys.
    pub(crate) fn configured(&self, added: &Added, keys: &str) -> Models {
        let path = self.home.path().join("config/config.toml");
        let record = &added.model.record;
        let (model, revision) = (record.model.clone(), record.revision.clone());
        let reranker = record.kind == ModelKind::Reranker;
        let entry = ModelEntry { name: "m".to_owned(), model, revision, reranker };
        let _ = std::fs::remove_file(&path);
        ModelFile::of_user(&path).register(&entry, false).expect("written");
        let text = std::fs::read_to_string(&path).expect("read");
        std::fs::write(&path, format!("{text}{keys}")).expect("written");
        let origins = Origins { user: Some(path), directories: self.directories(), ..Origins::default() };
        Models::new(&Config::load(&origins, None).expect("valid"))
    }

    /// Every file below the directory of models, by its path there.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let root = self.models().path().to_owned();
        let mut directories = vec![root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                match entry.path().is_dir() {
                    true => directories.push(entry.path()),
                    false => files.push(below(&root, &entry.path())),
                }
            }
        }
        files.sort();
        files
    }
}

fn below(root: &Path, path: &Path) -> String {
    let parts: PathBuf = path.strip_prefix(root).expect("below").into();
    parts.to_string_lossy().replace('\\', "/")
}

/// Asserts that two vectors are the same.
pub(crate) fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-4), "{found:?}\n{expected:?}");
}
