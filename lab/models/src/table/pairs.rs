//! Pairs of a sentence and the code that it describes, from packages of source code.
//!
//! `tamis-text` divides the files as an index would. The choice depends on content alone: each package has a share, filled by the
//! smallest checksums.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use tamis_embed::WordPiece;

use anyhow::{Context, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tamis_text::{Category, Kind, Limits, Options, Role, read, skip_by_content, skip_by_path};

use super::documentation;

/// Pairs of one package at most, so that no project dominates.
const SHARE: usize = 6_000;

/// Pairs with the same sentence at most, such as "Returns the length".
const SAME_SENTENCE: usize = 3;

/// Tokens of the code that count.
const LONGEST: usize = 400;

/// A function or type, as tokens.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pair {
    /// The package it is from.
    pub package: usize,
    /// The language's name.
    pub language: String,
    /// The first sentence of its documentation.
    pub sentence: String,
    /// The rest of its documentation.
    pub rest: Vec<u16>,
    /// Its own name.
    pub name: Vec<u16>,
    /// Its code, without documentation.
    pub code: Vec<u16>,
}

/// Mines the packages, each a directory. A file keeps the pairs, so that another training need not parse again.
pub fn mine(packages: &[PathBuf], cache: &Path) -> Result<Vec<Pair>> {
    let names: Vec<_> = packages.iter().map(|package| package.to_string_lossy()).collect();
    let checksum = blake3::hash(names.join("\0").as_bytes()).to_hex();
    let path = cache.join(format!("pairs-{}.jsonl", &checksum[..16]));
    if let Ok(text) = fs::read_to_string(&path) {
        return text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect();
    }
    let pairs = parse(packages)?;
    let lines: Vec<String> = pairs.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    fs::write(&path, lines.join("\n")).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(pairs)
}

fn parse(packages: &[PathBuf]) -> Result<Vec<Pair>> {
    let mined: Vec<Vec<([u8; 32], Pair)>> = packages
        .par_iter()
        .enumerate()
        .map(|(number, package)| {
            let mut files = Vec::new();
            walk(package, &mut files)?;
            let mut chosen = BTreeMap::new();
            for file in files {
                of_file(number, package, &file, &mut |key, pair| {
                    chosen.insert(key, pair);
                    if chosen.len() > SHARE {
                        chosen.pop_last();
                    }
                })?;
            }
            Ok(chosen.into_iter().collect())
        })
        .collect::<Result<_>>()?;
    // The same function comes with several packages; the checksum says which of them keeps it.
    let mut all: Vec<([u8; 32], Pair)> = mined.into_iter().flatten().collect();
    all.sort_by_key(|(key, _)| *key);
    let (mut bodies, mut sentences) = (HashSet::new(), HashMap::<String, usize>::new());
    all.retain(|(_, pair)| {
        let times = sentences.entry(pair.sentence.to_lowercase()).or_default();
        *times += 1;
        *times <= SAME_SENTENCE && bodies.insert(pair.code.clone())
    });
    Ok(all.into_iter().map(|(_, pair)| pair).collect())
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_symlink() {
        return Ok(());
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
            walk(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}

/// Returns the tokens of a text as the model counts them.
pub fn tokens(text: &str) -> Vec<u16> {
    let mut ids = Vec::new();
    WordPiece::uncased_bert().bag(text, &mut ids);
    ids.into_iter().map(|id| id as u16).collect()
}

fn of_file(number: usize, package: &Path, file: &Path, found: &mut impl FnMut([u8; 32], Pair)) -> Result<()> {
    let path = file.strip_prefix(package).unwrap_or(file).to_string_lossy().into_owned();
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let left_out = skip_by_path(&path, bytes.len() as u64, &Limits::default());
    if left_out.is_some() || skip_by_content(&path, &bytes).is_some() {
        return Ok(());
    }
    // Copies of other projects may be of one that is excluded.
    let copies = ["vendor", "_vendor", "third_party", "extern", "node_modules"];
    if path.split('/').any(|part| copies.contains(&part)) {
        return Ok(());
    }
    let document = read(&path, &bytes, &Options::default());
    let (Category::Code, Some(language)) = (document.category, document.language) else { return Ok(()) };
    let tokens = |text: &str, limit: usize| {
        let mut tokens = self::tokens(text);
        tokens.truncate(limit);
        tokens
    };
    for passage in &document.passages {
        let described = matches!(passage.kind, Kind::Function | Kind::Method | Kind::Type | Kind::Trait | Kind::Macro);
        let ours = matches!(passage.role, Role::Main | Role::Example | Role::Vendored);
        if !described || !ours || passage.symbols().count() != 1 {
            continue;
        }
        let Some(parts) = documentation::take(language, &passage.text) else { continue };
        let squeezed: String = parts.code.split_whitespace().collect();
        if squeezed.len() < 30 {
            continue;
        }
        let context = passage.context.as_deref().unwrap_or_default();
        let code = tokens(&format!("{context}\n{}", parts.code), LONGEST);
        let symbol = passage.symbols().next().unwrap_or_default();
        let own = symbol.rsplit([':', '.', '#', '\\']).next().unwrap_or(symbol);
        // The convention of Go: "Close closes the door".
        let sentence = match parts.sentence.split_once(' ') {
            Some((first, rest)) if first == own => rest.to_owned(),
            _ => parts.sentence,
        };
        let key = *blake3::hash(squeezed.as_bytes()).as_bytes();
        let pair = Pair {
            package: number,
            language: language.to_owned(),
            rest: tokens(&parts.rest, 100),
            name: tokens(own, 24),
            code,
            sentence,
        };
        found(key, pair);
    }
    Ok(())
}
