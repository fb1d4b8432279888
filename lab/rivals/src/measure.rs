//! Measures one tool on all trees.

use crate::run::{Ended, Place, bytes};
use crate::server::warm;
use crate::tools::Tool;
use crate::trees::Tree;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The number of questions that speed is measured on.
const SAMPLE: usize = 12;

/// The figures of one tool.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The tool's name.
    pub name: &'static str,
    /// The way it is called.
    pub called: &'static str,
    /// Its version.
    pub version: String,
    /// Indexing the tree of all sources; `None` without an index.
    pub index: Option<Ended>,
    /// The size of that index, in bytes.
    pub stored: Option<u64>,
    /// The median search in a new process, and the largest memory of any.
    pub cold: Option<Ended>,
    /// The median search of its server; `None` without one.
    pub warm: Option<Duration>,
    /// The shares of its answers.
    pub shares: Shares,
    /// The share in the first ten, by tree.
    pub trees: BTreeMap<String, f64>,
    /// What a reader must know of the questions that were not answered; empty if all were.
    pub remarks: Vec<String>,
    /// The reason why there are no figures.
    pub failed: Option<String>,
}

/// What share of the questions a tool answers, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    /// The share of questions whose first file is an expected one.
    pub first: Option<f64>,
    /// The share with an expected one among the first ten.
    pub in_ten: Option<f64>,
    /// The mean number of files in an answer, at most ten.
    pub shown: Option<f64>,
    /// The share with an expected one among the first ten or the less likely ones that are named below them.
    pub in_view: Option<f64>,
    /// The share of answerable questions whose answer is empty.
    pub empty_wrongly: Option<f64>,
    /// The share of unanswerable ones whose answer is empty.
    pub empty_rightly: Option<f64>,
}

/// Measures a tool. A failure becomes the reason in its row.
pub fn measure(tool: &dyn Tool, place: &Place, trees: &[Tree], all: &Tree) -> Measured {
    let mut measured = Measured { name: tool.name(), called: tool.called(), ..Measured::default() };
    if let Err(error) = figures(tool, place, trees, all, &mut measured) {
        measured.failed = Some(format!("{error:#}"));
    }
    measured
}

fn figures(tool: &dyn Tool, place: &Place, trees: &[Tree], all: &Tree, measured: &mut Measured) -> Result<()> {
    tool.install()?;
    let version = place.run(&tool.version()).context("its version")?.out;
    let number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    measured.version = version.split_whitespace().find(number).unwrap_or("?").to_owned();

    if let Some(index) = tool.index(&all.root) {
        measured.index = Some(place.run(&index).context("indexing")?);
        measured.stored = Some(tool.stored(&all.root).iter().map(|path| bytes(path)).sum());
    }
    let every = (all.questions.len() / SAMPLE).max(1);
    let sample: Vec<&str> = all.questions.iter().step_by(every).take(SAMPLE).map(|(ask, _)| ask.as_str()).collect();
    let mut runs = Vec::new();
    for query in &sample {
        // The first one warms the file cache.
        place.run(&tool.search(&all.root, query)).context("searching")?;
        runs.push(place.run(&tool.search(&all.root, query)).context("searching")?);
    }
    runs.sort_by_key(|run| run.wall);
    let resident = runs.iter().map(|run| run.resident).max().unwrap_or_default();
    let median = runs[runs.len() / 2].clone();
    measured.cold = Some(Ended { resident, ..median });
    if let Some(server) = tool.server(&all.root) {
        let mut times = warm(server, place, &sample).context("its server")?;
        times.sort();
        measured.warm = times.get(times.len() / 2).copied();
    }

    let (mut first, mut in_ten, mut in_view, mut shown, mut empty, mut asked) = (0, 0, 0, 0, 0, 0);
    let (mut left_empty, mut unanswerable) = (0, 0);
    let began = Instant::now();
    let mut unanswered: Vec<String> = Vec::new();
    for tree in trees {
        if began.elapsed() > place.patience {
            let all: usize = trees.iter().map(|tree| tree.questions.len()).sum();
            let seconds = began.elapsed().as_secs();
            measured.remarks.push(format!("was asked the first {asked} of {all} questions, which took {seconds} s"));
            break;
        }
        let indexed = tool.index(&tree.root).map_or(Ok(()), |index| place.run(&index).map(drop));
        let mut found = 0;
        for (query, expect) in &tree.questions {
            // A question that a tool fails on is one that it does not answer.
            let run = match &indexed {
                Ok(()) => place.run(&tool.search(&tree.root, query)).map_err(|error| format!("{error:#}")),
                Err(error) => Err(format!("indexing: {error:#}")),
            };
            let (mut files, below) = match run {
                Ok(answer) => {
                    let files = tool.files(&tree.root, query, &answer.out).unwrap_or_default();
                    (files, tool.files_below(&tree.root, &answer.out))
                }
                Err(reason) => {
                    // A reader has other paths than this machine.
                    let reason = reason.replace(&*tree.root.to_string_lossy(), &tree.name);
                    unanswered.push(format!("{}, {reason}", tree.name));
                    Default::default()
                }
            };
            files.truncate(10);
            let is_expected = |file: &String| expect.contains(file);
            first += usize::from(files.first().is_some_and(is_expected));
            found += usize::from(files.iter().any(is_expected));
            in_view += usize::from(files.iter().chain(&below).any(is_expected));
            empty += usize::from(files.is_empty());
            shown += files.len();
        }
        for query in &tree.unanswerable {
            let answer = indexed.as_ref().ok().and_then(|()| place.run(&tool.search(&tree.root, query)).ok());
            let files = answer.and_then(|answer| tool.files(&tree.root, query, &answer.out).ok());
            // A failure is no answer either way.
            if let Some(files) = files {
                left_empty += usize::from(files.is_empty());
                unanswerable += 1;
            }
        }
        in_ten += found;
        asked += tree.questions.len();
        measured.trees.insert(tree.name.clone(), found as f64 / tree.questions.len().max(1) as f64);
    }
    if let Some(reason) = unanswered.first() {
        let failed = unanswered.len();
        ensure!(failed < asked, "{reason}");
        measured.remarks.push(format!("fails on {failed} of {asked} questions, which count as not found: {reason}"));
    }
    let share = |count: usize| Some(count as f64 / asked.max(1) as f64);
    measured.shares = Shares {
        first: share(first),
        in_ten: share(in_ten),
        shown: share(shown),
        in_view: share(in_view),
        empty_wrongly: share(empty),
        empty_rightly: (unanswerable > 0).then(|| left_empty as f64 / unanswerable as f64),
    };
    Ok(())
}
