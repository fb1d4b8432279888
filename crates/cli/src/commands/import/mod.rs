//! `tamis import`: imports content that isn't a file, lists the imports, and removes them.

mod github;
pub mod report;

use crate::command_line::Global;
use crate::exit::Exit;
use crate::interrupt;
use crate::layout::Page;
use crate::output::Output;
use crate::print::table::Columns;
use crate::print::text::{count, label};
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use github::ImportGithubArguments;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use report::{Ending, STANDARD_INPUT_NAME, check_standard_input_once, import_and_report, inputs, stream};
use std::io::{self, Write};
use std::path::PathBuf;
use tamis::config::Config;
use tamis::evidence::EvidenceImport;
use tamis::flag_values::moment;
use tamis::import::{CommitImport, ConversationImport, Imported, IssueImport, PageImport};
use tamis_text::WikiDumpOptions;

/// Flags of `tamis import`.
#[derive(Debug, Args)]
#[command(
    subcommand_negates_reqs = true,
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
  tamis import commits                             the messages of the tree's own history
  tamis import evidence graph.jsonl                claims, with the evidence for and against them
  tamis import --list                              list the imports by origin
  tamis import --remove github:OWNER/REPO          remove an import again

An import is applied completely or not at all. Importing the same file again changes nothing; a newer file updates what has changed."
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
    /// Import the messages of the tree's own commits
    Commits(ImportCommitsArguments),
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
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_values_t = [0, 4, 12], value_parser = number)]
    pub pages_of: Vec<i32>,
    /// Flags of every import.
    #[command(flatten)]
    pub common: ImportFlags,
}

/// The number of a namespace of a wiki.
fn number(text: &str) -> Result<i32, &'static str> {
    text.parse().map_err(|_| "must be whole numbers, separated by commas")
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

/// Flags of `tamis import commits`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tamis import commits --since 2025-01-31
  tamis search --collection commits \"retry limit\"
  tamis search \"why was the retry limit lowered\"
  tamis get commit:1f2e3d4c5b6a                the message, and the patch of the files that are indexed
  tamis related src/net/retry.rs               names the last commits of a file, too

Running it again adds the new commits. Searches leave commits out unless the question is about the past (\"why was\",
\"when did\", \"who added\"), mentions commits, or names the collection.")]
pub struct ImportCommitsArguments {
    /// Import only commits since 2025-01-31, 90d or 'last year'
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    pub since: Option<Timestamp>,
    /// Import at most the last N commits, 1 to 1000000
    #[arg(short = 'n', long, value_name = "N", default_value_t = CommitImport::LIMIT)]
    pub limit: usize,
    /// Import those of this namespace's tree, in place of the current one's
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Embed with every model before exiting, not only the first
    #[arg(long)]
    pub wait: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
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
    /// Embed with every model before exiting, not only the first
    #[arg(long)]
    pub wait: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub json: bool,
}

/// Imports, lists the imports, or removes one.
///
/// # Errors
/// An unreadable input, an index that cannot be written or that another process is writing, or a model that fails.
pub fn run(arguments: &ImportArguments, global: &Global, output: &Output) -> Result<Exit> {
    if arguments.source.is_some() && (arguments.list || arguments.remove.is_some() || arguments.json) {
        bail!("--list, --remove and --json before a source import nothing; give them alone");
    }
    match (&arguments.source, &arguments.remove) {
        (Some(ImportSource::Issues(source)), _) => issues(source, global, output),
        (Some(ImportSource::Wiki(source)), _) => wiki(source, global, output),
        (Some(ImportSource::Conversations(source)), _) => conversations(source, global, output),
        (Some(ImportSource::Commits(source)), _) => commits(source, global, output),
        (Some(ImportSource::Evidence(source)), _) => evidence(source, global, output),
        (Some(ImportSource::Github(github)), _) => github::run(github, global, output),
        (None, Some(origin)) => remove(origin, arguments, global, output),
        (None, None) => list(arguments, global, output),
    }
}

/// Lists the imports by origin.
fn list(arguments: &ImportArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let imported = session.open_existing(config)?.imports().list()?;
    if arguments.json {
        output.json(&imported)?;
    } else if imported.is_empty() {
        output.note("nothing has been imported yet; `tamis import --help` lists the sources");
    } else {
        let mut out = output.paged();
        print_list(&mut out, &imported)?;
        out.flush()?;
    }
    Ok(Exit::found(!imported.is_empty()))
}

/// Shows what will be removed, then removes it.
fn remove(origin: &str, arguments: &ImportArguments, global: &Global, output: &Output) -> Result<Exit> {
    let session = Session::start(global, Vec::new())?;
    let config = session.config()?;
    let index = session.open_existing(config)?;
    let namespace = arguments.namespace.as_deref();
    let found = index.imports().list_from(origin, namespace)?;
    if !arguments.json {
        let mut out = output.styled();
        print_list(&mut out, &found)?;
        out.flush()?;
    }
    if arguments.dry_run {
        if arguments.json {
            output.json(&found)?;
        }
        output.note("nothing was changed; without --dry-run these are removed");
        return Ok(Exit::Found);
    }
    interrupt::install()?;
    let removed = index.imports().remove(origin, namespace, &Progress::at_once(output))?;
    if arguments.json {
        output.json(&removed)?;
    } else {
        let mut out = output.styled();
        writeln!(out, "removed {} from the index", label(origin))?;
        out.flush()?;
    }
    Ok(Exit::Found)
}

/// Imports the issues of files.
///
/// # Errors
/// A file is unreadable or in an unknown format, the index cannot be written, or a model fails.
fn issues(arguments: &ImportIssuesArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let read = |_: &Config| {
        let import = IssueImport::from_inputs(&inputs(&arguments.files)?, flags.origin.as_deref())?;
        let namespace = flags.namespace.clone();
        Ok(IssueImport { namespace, skip_bad: flags.skip_bad, dry_run: flags.dry_run, ..import })
    };
    import_and_report(Ending::from_flags(flags), global, output, read, |index, import, progress| {
        index.imports().issues(&import, progress)
    })
}

/// Imports the pages of dumps.
///
/// # Errors
/// A file is unreadable or not a dump, the index cannot be written, or a model fails.
fn wiki(arguments: &ImportWikiArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let options = WikiDumpOptions { namespaces: arguments.pages_of.clone() };
    let read = |_: &Config| {
        check_standard_input_once(&arguments.files)?;
        let mut import = PageImport {
            namespace: flags.namespace.clone(),
            skip_bad: flags.skip_bad,
            dry_run: flags.dry_run,
            ..PageImport::default()
        };
        for file in &arguments.files {
            let origin = flags.origin.as_deref();
            match stream(file)? {
                Some(stream) => import.read(STANDARD_INPUT_NAME, stream, origin, &options)?,
                None => import.read_file(file, origin, &options)?,
            }
        }
        Ok(import)
    };
    import_and_report(Ending::from_flags(flags), global, output, read, |index, import, progress| {
        index.imports().pages(import, progress)
    })
}

/// Imports the sessions of logs.
///
/// # Errors
/// A log is unreadable or in an unknown format, the index cannot be written, or a model fails.
fn conversations(arguments: &ImportConversationsArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let read = |_: &Config| {
        let inputs = inputs(&arguments.files)?;
        let (name, origin) = (arguments.name.as_deref(), flags.origin.as_deref());
        let import = ConversationImport::from_inputs(&inputs, name, origin, &TimeZone::system())?;
        let namespace = flags.namespace.clone();
        Ok(ConversationImport { namespace, skip_bad: flags.skip_bad, dry_run: flags.dry_run, ..import })
    };
    import_and_report(Ending::from_flags(flags), global, output, read, |index, import, progress| {
        index.imports().conversations(&import, progress)
    })
}

/// Imports the commits of a tree.
///
/// # Errors
/// No repository holds the tree, git cannot read it, the index cannot be written, or a model fails.
fn commits(arguments: &ImportCommitsArguments, global: &Global, output: &Output) -> Result<Exit> {
    let &ImportCommitsArguments { since, limit, ref namespace, dry_run, wait, json } = arguments;
    let import = CommitImport { namespace: namespace.clone(), since, limit: Some(limit), dry_run };
    import_and_report(
        Ending { json, wait },
        global,
        output,
        |_| Ok(import),
        |index, import, progress| index.imports().commits(&import, progress),
    )
}

/// Imports the records of files.
///
/// # Errors
/// An unreadable file, a malformed line or one that refers to a missing record, an index that cannot be written, or a model
/// that fails.
fn evidence(arguments: &ImportEvidenceArguments, global: &Global, output: &Output) -> Result<Exit> {
    let flags = &arguments.common;
    let read = |_: &Config| {
        let import = EvidenceImport::from_inputs(&inputs(&arguments.files)?, flags.origin.as_deref());
        let namespace = flags.namespace.clone();
        Ok(EvidenceImport { namespace, skip_bad: flags.skip_bad, dry_run: flags.dry_run, ..import })
    };
    import_and_report(Ending::from_flags(flags), global, output, read, |index, import, progress| {
        index.evidence().import(&import, progress)
    })
}

/// Writes the imports by origin.
///
/// # Errors
/// `out` cannot be written.
pub fn print_list(out: &mut dyn Page, imported: &[Imported]) -> io::Result<()> {
    let mut table = Columns::new(&["=origin", "namespace", "collection", ">documents", ">passages", "newest"]);
    for one in imported {
        table.row([
            label(&one.origin).into_owned(),
            label(&one.namespace).into_owned(),
            one.collection.clone(),
            count(one.documents),
            count(one.passages),
            one.updated.map_or_else(|| "–".into(), |at| at.strftime("%Y-%m-%d").to_string()),
        ]);
    }
    table.write(out)
}
