//! `cargo xtask distill static`: makes the static model's token table from the built-in transformer, text, and source code.
//!
//! The first part gives a passage the direction of the transformer's vector:
//!
//! 1. Every token of the vocabulary is run through the transformer alone; the leading 256 principal directions of its
//!    vectors of the corpus give each token its first row, weighted down the more frequent the token is.
//! 2. The transformer embeds a corpus of unlabelled passages ([`corpus`]).
//! 3. The rows are fitted so that the normalised sum of a passage's rows points where the transformer's vector does
//!    ([`fit`]).
//!
//! The second part trains these rows for three aims at once ([`joint`]): the first sentence of a documentation comment is near the code
//! that it describes ([`pairs`]), prose keeps its vector, and a Chinese, Japanese or Korean paragraph gets the vector of its English
//! original ([`translations`]). Then rows become signed bytes.
//!
//! Everything is deterministic for given packages: sampling by checksum, sums in a fixed order, a fixed seed. Files keep the
//! transformer's vectors and the pairs.

mod corpus;
mod documentation;
mod download;
mod fit;
mod joint;
mod packages;
mod pairs;
mod questions;
mod random;
mod space;
mod teacher;
mod training;
mod translations;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use tamis_embed::{TokenTable, normalise};
use xtask::run::root;

use corpus::Kind;
use random::Random;
use training::Trainer;

const USAGE: &str = "\
cargo xtask distill static WORK [--output TABLE.bin] [--first TABLE.bin]
WORK takes the packages of lab/models/static/sources.txt, the transformer's vectors and the pairs; a second run goes on with what is there.
--output: where the table goes (default: models/static/static-256.bin); --first takes the result of the first part from a table.
Needs python3 with pip, npm, and apt-get and dpkg of Debian 12.
";

/// Length of a row.
const DIMENSION: usize = 256;

/// The number of passages of each kind that the first part draws from.
const SHARES: [(Kind, usize); 3] = [(Kind::Gloss, 50_000), (Kind::Prose, 22_000), (Kind::Code, 14_000)];

/// The number of passages that the first part learns from: the first of those, which are well mixed in the order of their checksums.
const PASSAGES: usize = 32_000;

/// The number of passages that keep their vectors in the second part.
const KEPT: [(Kind, usize); 2] = [(Kind::Gloss, 120_000), (Kind::Prose, 120_000)];

/// Length at the start of a row that stands for characters the vocabulary lacks.
const UNUSED_LENGTH: f32 = 0.5;

/// Gets the packages that are missing, then mines, trains and writes.
pub fn make(arguments: &[String]) -> Result<()> {
    let Some((work, mut flags)) = arguments.split_first() else { bail!(USAGE) };
    let (mut output, mut first) = (root().join("models/static/static-256.bin"), None);
    while let [flag, value, rest @ ..] = flags {
        match flag.as_str() {
            "--output" => output = value.into(),
            "--first" => first = Some(PathBuf::from(value)),
            _ => bail!(USAGE),
        }
        flags = rest;
    }
    ensure!(flags.is_empty(), USAGE);
    fs::create_dir_all(work).with_context(|| format!("cannot create {work}"))?;
    let work = Path::new(work).canonicalize()?;
    download::packages(&work)?;
    let packages = packages::list(&work, &download::crates()?)?;
    let pairs = pairs::mine(&packages, &work)?;
    println!("{} pairs of {} packages: {}", pairs.len(), packages.len(), languages(&pairs));
    let (held_out, pairs) =
        pairs.into_iter().partition::<Vec<_>, _>(|pair| packages::is_held_out(&packages[pair.package]));
    println!("{} pairs held out", held_out.len());

    let mut rows = match first {
        Some(table) => decoded(&fs::read(&table).with_context(|| format!("cannot read {}", table.display()))?)?,
        None => first_part(&work, &packages)?,
    };
    let mut random = Random::new(7);
    for (_, row) in rows.chunks_exact_mut(DIMENSION).enumerate().filter(|(token, _)| is_unused(*token)) {
        row.fill_with(|| random.unit() + random.unit() + random.unit() - 1.5);
        normalise(row);
        row.iter_mut().for_each(|x| *x *= UNUSED_LENGTH);
    }
    let directories = [work.join("prose"), work.join("translations")];
    let prose = corpus::collect(&directories, &KEPT)?;
    let translations = translations::collect(&work.join("translations"))?;
    println!("{} translated paragraphs", translations.len());
    let trainer = Trainer::new(rows, DIMENSION, joint::TEMPERATURE, joint::RATE);
    let rows = joint::train(trainer, &pairs, &held_out, &prose, &translations);
    fs::write(&output, TokenTable::encode(&rows, DIMENSION)?)
        .with_context(|| format!("cannot write {}", output.display()))
}

/// Returns rows whose sums point where the transformer's vectors do.
fn first_part(work: &Path, packages: &[PathBuf]) -> Result<Vec<f32>> {
    let mut directories = vec![work.join("prose")];
    directories.extend(packages.iter().filter(|package| !package.starts_with(work)).cloned());
    let mut passages = corpus::collect(&directories, &SHARES)?;
    passages.truncate(PASSAGES);
    let tokens = teacher::tokens(work)?;
    let vectors = teacher::passages(work, &passages)?;
    let space = space::Space::of(&vectors, DIMENSION);
    println!("{DIMENSION} directions hold {:.2}% of the passages' squared length", space.kept() * 100.0);
    Ok(fit::fit(&space, &tokens, &passages, &vectors))
}

fn decoded(file: &[u8]) -> Result<Vec<f32>> {
    let table = TokenTable::from_bytes(file)?;
    let mut rows = vec![0.0; table.rows() * DIMENSION];
    rows.chunks_exact_mut(DIMENSION).enumerate().for_each(|(at, row)| table.add_row(at, row));
    Ok(rows)
}

fn is_unused(token: usize) -> bool {
    let name = u32::try_from(token).ok().and_then(|token| tamis_embed::WordPiece::uncased_bert().token(token));
    name.is_some_and(|name| name.starts_with("[unused"))
}

fn languages(pairs: &[pairs::Pair]) -> String {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for pair in pairs {
        *counts.entry(&pair.language).or_default() += 1;
    }
    counts.iter().map(|(language, count)| format!("{language} {count}")).collect::<Vec<_>>().join(", ")
}
