//! Flags of `tamis import`.

use super::ImportGithubArguments;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Flags of `tamis import`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "SOURCE",
    subcommand_help_heading = "Sources",
    after_help = "\
Examples:
  tamis import issues issues.json comments.json    pages of GitHub's API, `gh issue list --json`, GitLab's export, …
  gh issue list --state all --limit 1000 \\
      --json number,title,body,state,url,updatedAt,comments | tamis import issues -
  tamis import github OWNER/REPO                   a repository's issues, live; later only the changes
  tamis import wiki dump.xml                       the pages of a MediaWiki
  tamis import conversations session.jsonl         a log of turns: time, speaker, text
  tamis import evidence graph.jsonl                claims, with the evidence for and against them
  tamis import --list                              list the imports by origin
  tamis import --remove github:OWNER/REPO          remove an import again

An import happens whole or not at all. The same file again changes nothing; a newer file brings the changes."
)]
pub struct ImportArguments {
    /// The source.
    #[command(subcommand)]
    pub source: Option<ImportSource>,
    /// List the imports by origin
    #[arg(long, required_unless_present = "remove")]
    pub list: bool,
    /// Remove everything from ORIGIN, as --list names it
    #[arg(long, value_name = "ORIGIN", conflicts_with = "list")]
    pub remove: Option<String>,
    /// With --remove, remove it only from this namespace
    #[arg(long, value_name = "NAME", requires = "remove")]
    pub namespace: Option<String>,
    /// With --remove, show what would be removed, and change nothing
    #[arg(long, requires = "remove")]
    pub dry_run: bool,
    /// Print the list, or what was removed, as JSON
    #[arg(long)]
    pub json: bool,
}

/// A source of imports.
#[derive(Debug, Subcommand)]
pub enum ImportSource {
    /// Import issues, pull requests and comments from a tracker's files
    Issues(ImportIssuesArguments),
    /// Import the issues, pull requests and reviews of a GitHub repository, live
    Github(ImportGithubArguments),
    /// Import the pages of a wiki from a MediaWiki dump
    Wiki(ImportWikiArguments),
    /// Import logs of conversations: turns of a time, a speaker and a text
    Conversations(ImportConversationsArguments),
    /// Import claims, with fragments of pages for and against them
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
    /// Files of one tracker, in any format that trackers export; - is standard input
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

A wiki of plain files, such as a checkout of a GitHub wiki, needs no import: it is indexed in place.")]
pub struct ImportWikiArguments {
    /// Dumps, plain or compressed with gzip or bzip2; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Read the pages of these namespaces of the wiki: 0 articles, 4 project, 12 help
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

A log that has grown adds only its new turns.")]
pub struct ImportConversationsArguments {
    /// Logs; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Name the log, in place of its file's name
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
  tamis evidence export                        write the same records out again

A record replaces the one of the same name. Lines may refer to later lines. docs/evidence.md lists the fields.")]
pub struct ImportEvidenceArguments {
    /// Files of JSON Lines; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Flags of every import.
    #[command(flatten)]
    pub common: ImportFlags,
}

/// Flags that every import of files takes.
#[derive(Debug, Args)]
pub struct ImportFlags {
    /// Import into this namespace in place of the current one; a new one is made
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Record this origin, in place of what the files say
    #[arg(long, value_name = "ORIGIN")]
    pub origin: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Leave out unreadable records, in place of importing nothing
    #[arg(long)]
    pub skip_bad: bool,
    /// Embed with every model before ending, in place of the first one
    #[arg(long)]
    pub wait: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}
