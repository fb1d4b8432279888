//! `cargo xtask questions`: measures searches on the lists of questions in `lab/questions/lists`.

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Instant;
use tamis_questions::{
    Drift, Figures, IndexedTree, List, Measured, Model, PASTS, Place, Places, Source, ask_exactly, drifts, exact_table,
    fit, foreign, measure, misses, other_words, overview, place, write_evidence,
};

const USAGE: &str = "\
Usage: cargo xtask questions [OPTIONS]
       cargo xtask fit [OPTIONS]

Asks lists of questions with known answers, and prints how they were served: on an index that recorded nothing, and after
200 other questions. `fit` fits the models of relevance to the evidence on their answers, and writes its weights.

  --tree NAME    only this list; may be repeated (default: all)
  --model NAME   static, late (the better model reads the best passages of each search) or minilm (it has read all); may be
                 repeated (default: static and late)
  --questions DIR, --trees DIR      lists kept elsewhere, and the trees that they ask (skipped where absent)
  --words DIR, --reports FILE, --collections DIR, --histories DIR   for fit: queries in the code's own words, pasted reports,
                                    judged collections, and checkouts with their history
  --evidence FILE                   for fit: write the evidence to a file, or read it if there is one
  --cold         skip the questions after others
  --exact        ask for the names and messages of the trees of source code instead
  --misses       list every question that was not served
  --json         print everything, each answer included, as JSON
";

#[derive(Default)]
struct Arguments {
    fit: bool,
    trees: Vec<String>,
    models: Vec<Model>,
    places: Places,
    evidence: Option<PathBuf>,
    cold: bool,
    exact: bool,
    misses: bool,
    json: bool,
}

fn main() -> Result<()> {
    let Some(arguments) = arguments(std::env::args().skip(1))? else {
        print!("{USAGE}");
        return Ok(());
    };
    let mut lists = List::all()?;
    place::locked(&lists)?;
    if arguments.fit {
        return fit_weights(&arguments);
    }
    lists.extend(other_words::lists(&arguments.places.questions, &arguments.places.trees)?);
    let names: Vec<&str> = lists.iter().map(|list| list.name.as_str()).collect();
    for tree in &arguments.trees {
        ensure!(names.contains(&tree.as_str()), "--tree {tree}: there is no such list; there are {}", names.join(", "));
    }
    let pasts = if arguments.cold { &PASTS[..1] } else { &PASTS[..] };
    let chosen = |list: &&List| arguments.trees.is_empty() || arguments.trees.contains(&list.name);
    if arguments.exact {
        return exact(&arguments, &lists.iter().filter(chosen).collect::<Vec<_>>());
    }
    let own: BTreeSet<String> = List::all()?.into_iter().map(|list| list.name).collect();
    let (mut measured, mut skipped) = (Vec::new(), 0);
    for list in lists.iter().filter(chosen) {
        let place = if own.contains(&list.name) { Place::of(list)? } else { other_words::place(list) };
        if let Place::Missing(reason) = &place {
            eprintln!("{}: skipped: {reason}", list.name);
            skipped += 1;
            continue;
        }
        for &model in &arguments.models {
            let started = Instant::now();
            let tree = IndexedTree::new(list, &place, model)?;
            let other = foreign(&lists, &list.name);
            measured.push((own.contains(&list.name), measure(list, &tree, &other, pasts)?));
            eprintln!(
                "{}: {} passages asked with {} in {:.0?}",
                list.name,
                tree.passages,
                model.name(),
                started.elapsed()
            );
        }
    }
    if skipped > 0 {
        eprintln!("{skipped} lists skipped, whose trees are not here");
    }
    ensure!(!measured.is_empty(), "no tree was found");
    for (is_own, name) in [(true, "lists of this project"), (false, "lists kept elsewhere")] {
        let of: Vec<Measured> = measured.iter().filter(|(own, _)| *own == is_own).map(|(_, one)| one.clone()).collect();
        if of.is_empty() {
            continue;
        }
        if !arguments.json {
            println!("{name}\n");
        }
        if arguments.json { print_json(&arguments, &of)? } else { print_tables(&arguments, &of)? }
    }
    Ok(())
}

/// Fits the models of relevance, prints how it does on what was left out, and writes its weights.
fn fit_weights(arguments: &Arguments) -> Result<()> {
    let path = match &arguments.evidence {
        Some(path) => path.clone(),
        None => place::root().join("target/evidence.jsonl"),
    };
    if arguments.evidence.is_none() || !path.exists() {
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        write_evidence(&arguments.places, BufWriter::new(file))?;
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let evidence = fit::read(&text)?;
    println!("lists left out\n\n{}", fit::left_out(&evidence, false));
    println!("families left out\n\n{}", fit::left_out(&evidence, true));
    let weights = place::root().join("crates/rank/src/relevance/weights.rs");
    fs::write(&weights, fit::source(&evidence)?).with_context(|| format!("cannot write {}", weights.display()))?;
    println!("wrote {}", weights.display());
    Ok(())
}

/// Asks for what the trees of source code define and say.
fn exact(arguments: &Arguments, lists: &[&List]) -> Result<()> {
    for &model in &arguments.models {
        let (mut served, mut missed) = (Vec::new(), Vec::new());
        for list in lists.iter().filter(|list| matches!(list.source, Source::Crate { .. })) {
            let place = Place::of(list)?;
            if let Place::Missing(reason) = &place {
                eprintln!("{}: skipped: {reason}", list.name);
                continue;
            }
            let tree = IndexedTree::new(list, &place, model)?;
            served.push(ask_exactly(&tree, &mut missed)?);
        }
        println!("{}, names and messages of the trees themselves\n\n{}", model.name(), exact_table(&served));
        if arguments.misses {
            println!("Not first\n\n{}", missed.join("\n"));
        }
    }
    Ok(())
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Option<Arguments>> {
    let mut arguments = Arguments::default();
    while let Some(argument) = given.next() {
        let mut value = || given.next().with_context(|| format!("{argument} needs a name\n\n{USAGE}"));
        match argument.as_str() {
            "--tree" => arguments.trees.push(value()?),
            "fit" if arguments.trees.is_empty() => arguments.fit = true,
            "--model" => arguments.models.push(value()?.parse()?),
            "--questions" => arguments.places.questions = value()?.into(),
            "--trees" => arguments.places.trees = value()?.into(),
            "--words" => arguments.places.words = value()?.into(),
            "--reports" => arguments.places.reports = value()?.into(),
            "--collections" => arguments.places.collections = value()?.into(),
            "--histories" => arguments.places.histories = value()?.into(),
            "--evidence" => arguments.evidence = Some(value()?.into()),
            "--cold" => arguments.cold = true,
            "--exact" => arguments.exact = true,
            "--misses" => arguments.misses = true,
            "--json" => arguments.json = true,
            "--help" | "-h" => return Ok(None),
            other => bail!("{other}: unknown argument\n\n{USAGE}"),
        }
    }
    if arguments.models.is_empty() {
        arguments.models = vec![Model::Static, Model::Late];
    }
    arguments.models.dedup();
    Ok(Some(arguments))
}

fn of_model<'a>(measured: &'a [Measured], model: &str) -> Vec<&'a Measured> {
    measured.iter().filter(|measured| measured.model == model).collect()
}

fn print_tables(arguments: &Arguments, measured: &[Measured]) -> Result<()> {
    for model in arguments.models.iter().map(|model| model.name()) {
        let lists = of_model(measured, model);
        println!("{model}, on an index that recorded nothing\n\n{}", overview(&lists, 0));
        if !arguments.cold {
            let last = PASTS.len() - 1;
            println!("{model}, after {} other questions\n\n{}", PASTS[last], overview(&lists, last));
            println!("{model}, against the answers of the index that recorded nothing\n\n{}", drifts(&lists));
        }
        if arguments.misses {
            let missed = lists.iter().flat_map(|list| list.misses(0)).collect();
            println!("{model}, not served on an index that recorded nothing\n\n{}", misses(&missed));
        }
    }
    Ok(())
}

fn print_json(arguments: &Arguments, measured: &[Measured]) -> Result<()> {
    let last = measured.first().map_or(0, |list| list.pasts.len() - 1);
    let summary = |lists: &[&Measured]| json!({ "cold": Figures::of(lists, 0), "used": Figures::of(lists, last), "drift": Drift::of(lists) });
    let models = arguments.models.iter().map(|model| model.name()).map(|model| {
        let lists = of_model(measured, model);
        let trees = lists.iter().map(|list| json!({ "figures": summary(&[list]), "measured": list }));
        let trees: Vec<_> = trees.collect();
        json!({ "model": model, "all": summary(&lists), "trees": trees })
    });
    let models: Vec<_> = models.collect();
    println!("{}", serde_json::to_string_pretty(&json!({ "models": models }))?);
    Ok(())
}
