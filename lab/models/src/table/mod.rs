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
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use tamis_embed::{TokenTable, normalise};

use corpus::Kind;
use random::Random;
use training::Trainer;

const USAGE: &str = "usage: distill --work DIRECTORY --crates DIRECTORY --excluded FILE --output TABLE.bin\n\
    \t[--first TABLE.bin]\n\
    DIRECTORY has the packages of tools/static/sources.txt; --first takes the result of the first part from a table.\n\
    `cargo xtask distill static` gets the packages and runs this.";

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

#[derive(Default)]
struct Arguments {
    work: Option<PathBuf>,
    crates: Option<PathBuf>,
    excluded: Option<PathBuf>,
    output: Option<PathBuf>,
    first: Option<PathBuf>,
}

impl Arguments {
    fn read() -> Result<Self> {
        let mut read = Self::default();
        let mut arguments = std::env::args().skip(1);
        while let Some(flag) = arguments.next() {
            let value = arguments.next().context(USAGE)?;
            match flag.as_str() {
                "--work" => read.work = Some(value.into()),
                "--crates" => read.crates = Some(value.into()),
                "--excluded" => read.excluded = Some(value.into()),
                "--output" => read.output = Some(value.into()),
                "--first" => read.first = Some(value.into()),
                _ => bail!(USAGE),
            }
        }
        Ok(read)
    }
}

fn main() -> Result<()> {
    let Arguments { work, crates, excluded, output, first } = Arguments::read()?;
    let (Some(work), Some(crates), Some(excluded), Some(output)) = (work, crates, excluded, output) else {
        bail!(USAGE)
    };
    let packages = packages::list(&work, &crates, &excluded)?;
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
fn first_part(work: &std::path::Path, packages: &[PathBuf]) -> Result<Vec<f32>> {
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
