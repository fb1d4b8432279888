//! Flags of `tamis model`.

use clap::{Args, Subcommand};
use tamis::hub::ModelName;

/// Flags of `tamis model`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis model add sentence-transformers/all-MiniLM-L12-v2
  tamis model add minishlab/potion-base-8M --use      fetch it, and embed every index with it
  tamis model add intfloat/e5-small-v2@main --as e5
  tamis model add Xenova/bge-small-en-v1.5 --quantized
  tamis model add cross-encoder/ms-marco-MiniLM-L6-v2 --use
  tamis model list
  tamis model remove e5

HF_ENDPOINT names another hub than https://huggingface.co, HF_TOKEN holds a token for models that are not public. \
Nothing else than `tamis model add` fetches a model.")]
pub struct ModelArguments {
    /// The action.
    #[command(subcommand)]
    pub action: ModelAction,
}

/// An action on the models of this machine.
#[derive(Debug, Subcommand)]
pub enum ModelAction {
    /// Fetch a model from a hub, check and try it, and give it a name
    Add(Box<ModelAddArguments>),
    /// List the models that were added
    List(ModelListArguments),
    /// Show where a model comes from and what was decided about it
    Show(ModelNamed),
    /// Remove a model's files and its name
    Remove(ModelNamed),
}

/// Flags of `tamis model add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis model add sentence-transformers/all-MiniLM-L12-v2
  tamis model add minishlab/potion-base-8M --use
  tamis model add intfloat/e5-small-v2@main --as e5

Exit status: 0 added or there already, 2 an error, 130 stopped by Ctrl-C; the same command then goes on.")]
pub struct ModelAddArguments {
    /// The model at the hub, with a branch, tag or commit if you want another than `main`
    #[arg(value_name = "OWNER/NAME[@REVISION]")]
    pub model: ModelName,
    /// Call it NAME in the configuration [default: its name without the owner]
    #[arg(long = "as", value_name = "NAME", value_parser = tamis::flags::named)]
    pub alias: Option<String>,
    /// Use it: add it to index.models, or make it rerank.model
    #[arg(long = "use")]
    pub used: bool,
    /// Write its name into this project's configuration
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// Write its name into your own configuration [default]
    #[arg(long)]
    pub user: bool,
    /// Fetch it as a reranker, even if its configuration does not say that it is one
    #[arg(long)]
    pub reranker: bool,
    /// Take the weights in 8 bits: smaller and quicker, a little worse
    #[arg(long, conflicts_with = "file")]
    pub quantized: bool,
    /// Take these weights of the repository, .onnx or .safetensors
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Fetch at most N megabytes, 1 to 1000000
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub max_megabytes: u64,
    /// Print what was added as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tamis model list`.
#[derive(Debug, Args)]
pub struct ModelListArguments {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// A model that was added.
#[derive(Debug, Args)]
pub struct ModelNamed {
    /// Its name in the configuration, or at the hub
    #[arg(value_name = "NAME|OWNER/NAME[@REVISION]")]
    pub name: String,
    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}
