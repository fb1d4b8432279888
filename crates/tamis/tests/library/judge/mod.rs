//! Grades by a chat model, through the library, against an endpoint in the same process.

mod check;
mod endpoint;
mod grades;

use crate::support::Tree;
use crate::support::endpoint::Endpoint;
use tamis::config::{Config, Origins};
use tamis::{Index, Location};

/// An index of a tree with a chat model at the endpoint and these further settings.
pub fn index(tree: &Tree, endpoint: &Endpoint, settings: &[(&str, &str)]) -> Index {
    let user = tree.root().join(".user/config.toml");
    let model = format!(
        "[models.chat]\nprovider = \"openai\"\nurl = \"{}\"\nmodel = \"grader\"\nmax_retries = 0\n",
        endpoint.url
    );
    std::fs::create_dir_all(user.parent().expect("a directory")).expect("made");
    std::fs::write(&user, model).expect("written");
    let usual = [("index.models", "static"), ("judge.model", "chat"), ("judge.depth", "4")];
    let flags = usual.iter().chain(settings).map(|&(key, value)| (key.into(), value.into(), "test".into()));
    let origins = Origins { user: Some(user), flags: flags.collect(), ..Origins::default() };
    let config = Config::load(&origins, None).expect("a valid configuration");
    let index = Index::at(Location::at(tree.root(), None), config).expect("opened");
    index.refresh().expect("refreshed");
    index
}
