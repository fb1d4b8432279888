//! A run that is killed at any point leaves an index that opens, whose documents are whole, and that the next run
//! completes.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tamis::config::Config;
use tamis::{Index, Location, SearchRequest};

const KILLS: u64 = 50;
const FILES: u64 = 160;

/// A small generator with a fixed seed (SplitMix64), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

/// A tree that changes, and every text that any of its files ever had.
struct Tree {
    root: PathBuf,
    versions: HashMap<[u8; 32], String>,
    random: Random,
}

impl Tree {
    fn write(&mut self, number: u64) {
        let topics = ["oven", "harbour", "violin", "glacier", "compiler", "orchard", "telescope", "ledger"];
        let mut text = format!("# Note {number}\n\nThis is note number {number}, version {}.\n", self.random.next());
        for section in 0..4 + self.random.below(6) {
            let topic = topics[self.random.below(8) as usize];
            text.push_str(&format!("\n## The {topic} {section}\n\nAbout the {topic}: {}.\n", self.random.next()));
        }
        fs::write(self.path(number), &text).expect("a file of the tree");
        self.versions.insert(*blake3::hash(text.as_bytes()).as_bytes(), text);
    }

    fn path(&self, number: u64) -> PathBuf {
        self.root.join(format!("note-{number}.md"))
    }

    /// Changes some files, moves some and removes some.
    fn change(&mut self) {
        for _ in 0..FILES / 3 {
            let number = self.random.below(FILES);
            match self.random.below(4) {
                0 => drop(fs::remove_file(self.path(number))),
                1 => drop(fs::rename(self.path(number), self.path(FILES + number))),
                _ => self.write(number),
            }
        }
    }
}

fn start(root: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tamis"));
    command.args(["index", "--verbose"]).current_dir(root).stdout(Stdio::null()).stderr(Stdio::piped());
    command.env("TAMIS_CONFIG_HOME", root.join(".tamis-user")).env("TAMIS_INDEX_MODELS", "static");
    command.spawn().expect("the program starts")
}

/// Waits until a run has begun so many of its stages, or has ended. The pipe holds everything that a run prints.
fn begun(child: &mut Child, stages: usize) {
    let said = BufReader::new(child.stderr.as_mut().expect("a pipe"));
    said.lines().map_while(Result::ok).take(stages).for_each(drop);
}

fn open(root: &Path) -> Index {
    let mut config = Config::built_in();
    config.index.models = vec!["static".into()];
    Index::at(Location::at(root, None), config).expect("the index opens after a kill")
}

/// Asserts that every document in the store is one version of its file, with all of its lines.
fn assert_whole(index: &Index, tree: &Tree) {
    for document in index.contents().documents(index.namespace()).expect("documents") {
        let text = tree.versions.get(&document.content_hash).expect("a text that the file once had");
        let passages = index.contents().document_passages(index.namespace(), &document.path).expect("passages");
        assert_eq!(passages.len(), document.passages as usize, "{}", document.path);
        let lines = |text: &str| -> Vec<String> {
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        let stored: Vec<String> = passages.iter().flat_map(|passage| lines(&passage.text)).collect();
        assert_eq!(stored, lines(text), "{}", document.path);
    }
}

#[test]
fn an_index_survives_kill_9_at_any_point() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = dunce::canonicalize(directory.path()).expect("a path");
    let mut tree = Tree { root: root.clone(), versions: HashMap::new(), random: Random(11) };
    (0..FILES).for_each(|number| tree.write(number));

    let started = Instant::now();
    let mut first = start(&root);
    begun(&mut first, usize::MAX);
    assert!(first.wait().expect("it ends").success());
    let whole_run = started.elapsed();

    let (mut killed, mut tried) = (0, 0);
    while killed < KILLS {
        let round = tried;
        tried += 1;
        assert!(round < KILLS * 10, "only {killed} of {round} runs were killed before their end");
        // Every tenth round starts from nothing.
        if round % 10 == 0 {
            fs::remove_dir_all(root.join(".tamis")).expect("the index is removed");
        }
        tree.change();
        let mut child = start(&root);
        // The run is at work: it lists files, and then does some of the next stages.
        begun(&mut child, 1 + tree.random.below(4) as usize);
        std::thread::sleep(Duration::from_micros(tree.random.below(whole_run.as_micros() as u64 / 4)));
        child.kill().expect("killed");
        // A run that completed exits with 0.
        killed += u64::from(!child.wait().expect("gone").success());

        let index = open(&root);
        assert_whole(&index, &tree);
        // Some rounds continue from the killed run's state, without a run in between.
        if tree.random.below(3) > 0 {
            index.refresh().expect("a rerun completes");
            let findings = index.check().expect("checked");
            assert!(findings.problems.is_empty(), "round {round}: {:?}", findings.problems);
            assert_whole(&index, &tree);
            let listed = fs::read_dir(&root).expect("listed");
            let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let files: BTreeSet<String> = names.filter(|name| name.ends_with(".md")).collect();
            let documents = index.contents().documents(index.namespace()).expect("documents");
            assert_eq!(documents.into_iter().map(|document| document.path).collect::<BTreeSet<_>>(), files);
            let answer = index.search(SearchRequest::new("the glacier")).expect("searched");
            assert!(answer.cut.candidates > 0);
        }
    }
    println!("{killed} of {tried} runs were killed before their end");
}
