//! Measures how fast the built-in models embed, and how much each way of batching gains.
//!
//! ```text
//! cargo xtask lab throughput [DIRECTORY [PASSAGES]]
//! ```
//!
//! Passages are the paragraphs of the Rust and Markdown files under DIRECTORY (the project itself by default), taken at
//! even distances. Each way takes turns with the reference, a plain loop over batches of 8 in the order of arrival. The
//! comparison counts passages a CPU second, so that other work on the machine disturbs both alike.

use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tamis_embed::{Batching, Embedder, MiniLm, StaticModel, WordPiece};
use tokenizers::models::wordpiece::WordPiece as ReferenceWordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::tokenizer::TokenizerBuilder;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let directory = arguments.next().map_or(project, PathBuf::from);
    let count: usize = arguments.next().map_or(Ok(400), |count| count.parse())?;

    let all = passages(&directory)?;
    let texts: Vec<&str> = all.iter().map(String::as_str).collect();
    println!("{} passages under {}", texts.len(), directory.display());
    tokenizers_side_by_side(&texts)?;
    static_table(&texts)?;
    let step = (texts.len() / count.max(1)).max(1);
    let sample: Vec<&str> = texts.into_iter().step_by(step).take(count).collect();
    minilm(&sample)
}

fn tokenizers_side_by_side(texts: &[&str]) -> Result<(), Box<dyn Error>> {
    let vocabulary = tempfile::NamedTempFile::new()?;
    fs::write(&vocabulary, tamis_model_static::VOCABULARY)?;
    let model = ReferenceWordPiece::from_file(&vocabulary.path().to_string_lossy())
        .unk_token("[UNK]".to_owned())
        .build()
        .map_err(as_error)?;
    let reference = TokenizerBuilder::<
        _,
        BertNormalizer,
        BertPreTokenizer,
        tokenizers::PostProcessorWrapper,
        tokenizers::DecoderWrapper,
    >::new()
    .with_model(model)
    .with_normalizer(Some(BertNormalizer::default()))
    .with_pre_tokenizer(Some(BertPreTokenizer))
    .build()
    .map_err(as_error)?;
    let ours = WordPiece::uncased_bert();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let rate = |seconds: f64| bytes as f64 / seconds / 1e6;
    let start = Instant::now();
    let mut ids = Vec::new();
    let tokens: usize = texts
        .iter()
        .map(|text| {
            ours.tokenize_into(text, usize::MAX, &mut ids);
            ids.len()
        })
        .sum();
    println!("tokens: {tokens}; this crate {:.1} MB/s", rate(start.elapsed().as_secs_f64()));
    let start = Instant::now();
    let mut others = 0;
    for text in texts {
        others += reference.encode_fast(*text, false).map_err(as_error)?.len();
    }
    println!("tokens: {others}; tokenizers {:.1} MB/s", rate(start.elapsed().as_secs_f64()));
    Ok(())
}

fn as_error(error: impl ToString) -> Box<dyn Error> {
    error.to_string().into()
}

fn static_table(texts: &[&str]) -> Result<(), Box<dyn Error>> {
    let model = StaticModel::built_in();
    let before = cpu_seconds()?;
    let start = Instant::now();
    model.embed_passages(texts)?;
    let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds()? - before);
    let count = texts.len() as f64;
    println!("static: {:.0} passages a CPU second, {:.0} a second", count / cpu.max(0.01), count / wall);
    Ok(())
}

fn minilm(texts: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut lengths: Vec<usize> =
        texts.iter().map(|text| WordPiece::uncased_bert().tokenize(text, 254).len() + 2).collect();
    let padded: usize = lengths.chunks(8).map(|batch| batch.len() * batch.iter().max().copied().unwrap_or(0)).sum();
    let tokens: usize = lengths.iter().sum();
    lengths.sort_unstable();
    println!(
        "minilm: {} passages of {} tokens in the mean, {} in the median; batches of 8 as they come pad {tokens} tokens to {padded}",
        texts.len(),
        tokens / texts.len().max(1),
        lengths.get(lengths.len() / 2).copied().unwrap_or(0),
    );
    let one = NonZeroUsize::MIN;
    let all = std::thread::available_parallelism()?;
    let reference = MiniLm::load()?.with_batching(Batching::AsGiven { texts: 8 }).with_threads(one);
    let mut ways = vec![("as given, 1".to_owned(), Batching::AsGiven { texts: 1 }, one)];
    for tokens in [1, 128, 256, 512, 1024, 4096] {
        ways.push((format!("by length, {tokens} tokens"), Batching::ByLength { tokens }, one));
    }
    ways.push((format!("by length, 256 tokens, {all} threads"), Batching::default(), all));
    for (name, batching, threads) in ways {
        let model = MiniLm::load()?.with_batching(batching).with_threads(threads);
        let (mut own, mut other) = ((0.0, 0.0), (0.0, 0.0));
        for part in texts.chunks(texts.len().div_ceil(4).max(1)) {
            other = add(other, timed(&reference, part)?);
            own = add(own, timed(&model, part)?);
        }
        let count = texts.len() as f64;
        println!(
            "{name:36} {:6.1} passages a CPU second, {:6.1} a second; reference {:6.1}; ratio {:.2}",
            count / own.0,
            count / own.1,
            count / other.0,
            other.0 / own.0
        );
    }
    Ok(())
}

/// Returns CPU and wall seconds.
fn timed(model: &MiniLm, texts: &[&str]) -> Result<(f64, f64), Box<dyn Error>> {
    let before = cpu_seconds()?;
    let start = Instant::now();
    model.embed_passages(texts)?;
    Ok((cpu_seconds()? - before, start.elapsed().as_secs_f64()))
}

/// Returns the CPU time of all threads of this process, as the kernel counts it, in steps of 10 ms.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |at: usize| -> Result<f64, Box<dyn Error>> { Ok(fields.get(at).ok_or("the field is missing")?.parse()?) };
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}

fn add(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 + b.0, a.1 + b.1)
}

/// Collects blocks of text between blank lines, joined to at least 200 characters.
fn passages(directory: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !path.is_symlink() && !name.starts_with('.') && name != "target" {
                open.push(path);
            } else if name.ends_with(".rs") || name.ends_with(".md") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut passages = Vec::new();
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let mut passage = String::new();
        for block in text.split("\n\n") {
            passage.push_str(block);
            passage.push_str("\n\n");
            if passage.len() >= 200 {
                passages.push(std::mem::take(&mut passage));
            }
        }
        if !passage.trim().is_empty() {
            passages.push(passage);
        }
    }
    Ok(passages)
}
