//! Flags of `tamis import`.

use super::ImportGithubArguments;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Flags of `tamis import`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "WHAT",
    subcommand_help_heading = "What to import",
    after_help = "\
Examples:
  tamis import issues issues.json comments.json    pages of GitHub's API, `gh issue list --json`, GitLab's export, …
  gh issue list --state all --limit 1000 --json number,title,body,state,url,updatedAt,comments | tamis import issues -
  tamis import github OWNER/REPO                   a repository's issues, live; later only what has changed
  tamis import wiki dump.xml                       the pages of a MediaWiki
  tamis import conversations session.jsonl         a log of turns: time, speaker, text
  tamis import evidence graph.jsonl                claims, and what speaks for and against them
  tamis import --list                              what was imported, and from where
  tamis import --remove github:OWNER/REPO          take it out again

An import is whole or nothing. The same file again changes nothing; a newer one brings what changed."
)]
pub struct ImportArguments {
    /// What to import.
    #[command(subcommand)]
    pub what: Option<ImportWhat>,
    /// List what was imported, by where it came from
    #[arg(long, required_unless_present = "remove")]
    pub list: bool,
    /// Take out all that came from ORIGIN, as --list names it
    #[arg(long, value_name = "ORIGIN", conflicts_with = "list")]
    pub remove: Option<String>,
    /// With --remove, only from this namespace
    #[arg(long, value_name = "NAME", requires = "remove")]
    pub namespace: Option<String>,
    /// With --remove, say what would go and change nothing
    #[arg(long, requires = "remove")]
    pub dry_run: bool,
    /// Print the list, or what was taken out, as JSON
    #[arg(long)]
    pub json: bool,
}

/// What to import.
#[derive(Debug, Subcommand)]
pub enum ImportWhat {
    /// Issues, pull requests and their comments, in any of the formats that trackers give
    Issues(ImportIssuesArguments),
    /// Issues, pull requests, comments and reviews of a repository on GitHub, live
    Github(ImportGithubArguments),
    /// Pages of a wiki, from a dump of a MediaWiki
    Wiki(ImportWikiArguments),
    /// Logs of conversations: turns of a time, a speaker and a text
    Conversations(ImportConversationsArguments),
    /// Claims, and the fragments of pages that speak for and against them
    Evidence(ImportEvidenceArguments),
}

/// Flags of `tamis import issues`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gh api --paginate 'repos/OWNER/REPO/issues?state=all&per_page=100' > issues.json
  gh api --paginate 'repos/OWNER/REPO/issues/comments?per_page=100' > comments.json
  tamis import issues issues.json comments.json
  tamis search --collection issues \"disk full after an upgrade\"
  tamis get issue:12")]
pub struct ImportIssuesArguments {
    /// Files of one tracker, in any formats, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Flags of every import.
    #[command(flatten)]
    pub common: ImportFlags,
}

/// Flags of `tamis import wiki`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis import wiki ourwiki-20261101-pages-articles.xml.bz2
  tamis search --collection wiki \"how are backups restored\"
  tamis get \"wiki:Restoring a backup\"

Wikis that are files, such as a checkout of a GitHub wiki, are indexed where they lie.")]
pub struct ImportWikiArguments {
    /// Dumps, plain or compressed with gzip or bzip2, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The numbers of the wiki's own namespaces whose pages are read: 0 are articles, 4 pages on the project, 12 help
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_values_t = [0, 4, 12])]
    pub pages_of: Vec<i32>,
    /// Flags of every import.
    #[command(flatten)]
    pub common: ImportFlags,
}

/// Flags of `tamis import conversations`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis import conversations team.jsonl        lines of {\"time\": …, \"speaker\": …, \"text\": …, \"session\": …}
  tamis import conversations export.json --name assistant
  tamis search --collection sessions \"where do backups go\"

The same log, gone on, adds what is new.")]
pub struct ImportConversationsArguments {
    /// Logs, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What to call the log, in place of its file's name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Flags of every import.
    #[command(flatten)]
    pub common: ImportFlags,
}

/// Flags of `tamis import evidence`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis import evidence graph.jsonl            lines of {\"record\": \"task\" | \"work\" | \"page\" | \"fragment\" | \"claim\" | \"edge\", …}
  tamis search --collection evidence --kind claim \"does folic acid help\"
  tamis get claim:c1
  tamis evidence export                        the same records, given back

A record takes the place of the one of the same name. Lines may refer to later ones. docs/evidence.md has the fields.")]
pub struct ImportEvidenceArguments {
    /// Files of JSON Lines, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Flags of every import.
    #[command(flatten)]
    pub common: ImportFlags,
}

/// Flags that every import of files takes.
#[derive(Debug, Args)]
pub struct ImportFlags {
    /// The namespace they go to, in place of the one you stand in; a new one is made
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Where they came from, in place of what the files say
    #[arg(long, value_name = "ORIGIN")]
    pub origin: Option<String>,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Leave out records that cannot be read, in place of importing nothing
    #[arg(long)]
    pub skip_bad: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}
