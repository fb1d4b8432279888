//! `cargo xtask questions`: measures searches on the lists of questions in `benches/questions/lists`.

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::time::Instant;
use tamis_questions::{
    Drift, Figures, IndexedTree, List, Measured, PASTS, Place, Source, ask_exactly, drifts, exact_table, foreign,
    measure, misses, overview, place,
};

const USAGE: &str = "\
Usage: cargo xtask questions [OPTIONS]

Asks lists of questions with known answers, and prints how they were served: on an index that recorded nothing, and after
200 other questions.

  --tree NAME    only this list; may be repeated (default: all)
  --model NAME   static or minilm; may be repeated (default: both)
  --cold         skip the questions after others
  --exact        ask for the names and messages of the trees of source code instead
  --misses       list every question that was not served
  --json         print everything, each answer included, as JSON
";

/// The models that a release has.
const MODELS: [&str; 2] = ["static", "minilm"];

#[derive(Default)]
struct Arguments {
    trees: Vec<String>,
    models: Vec<String>,
    cold: bool,
    exact: bool,
    misses: bool,
    json: bool,
    evidence: Option<String>,
    trees_of_family: Option<String>,
}

fn main() -> Result<()> {
    let Some(arguments) = arguments(std::env::args().skip(1))? else {
        print!("{USAGE}");
        return Ok(());
    };
    let lists = List::all()?;
    place::locked(&lists)?;
    let names: Vec<&str> = lists.iter().map(|list| list.name.as_str()).collect();
    for tree in &arguments.trees {
        ensure!(names.contains(&tree.as_str()), "--tree {tree}: there is no such list; there are {}", names.join(", "));
    }
    let pasts = if arguments.cold { &PASTS[..1] } else { &PASTS[..] };
    let chosen = |list: &&List| arguments.trees.is_empty() || arguments.trees.contains(&list.name);
    if let Some(path) = &arguments.evidence {
        let [questions, trees, collections, histories] = ["QUESTIONS", "TREES", "COLLECTIONS", "HISTORIES"]
            .map(|name| std::path::PathBuf::from(std::env::var_os(name).unwrap_or_default()));
        let places = tamis_questions::Places {
            questions: &questions,
            trees: &trees,
            collections: &collections,
            histories: &histories,
        };
        let output = std::io::BufWriter::new(std::fs::File::create(path)?);
        return tamis_questions::write_evidence(&places, arguments.trees_of_family.as_deref(), output);
    }
    if arguments.exact {
        return exact(&arguments, &lists.iter().filter(chosen).collect::<Vec<_>>());
    }
    let mut measured = Vec::new();
    for list in lists.iter().filter(chosen) {
        let place = Place::of(list)?;
        if let Place::Missing(reason) = &place {
            eprintln!("{}: skipped: {reason}", list.name);
            continue;
        }
        let started = Instant::now();
        let tree = IndexedTree::new(list, &place, &arguments.models)?;
        eprintln!("{}: indexed {} passages in {:.0?}", list.name, tree.passages, started.elapsed());
        for model in &arguments.models {
            let started = Instant::now();
            let other = foreign(&lists, &list.name);
            measured.push(measure(list, &tree, model, &other, pasts)?);
            eprintln!("{}: asked with {model} in {:.0?}", list.name, started.elapsed());
        }
    }
    ensure!(!measured.is_empty(), "no tree was found");
    if arguments.json { print_json(&arguments, &measured) } else { print_tables(&arguments, &measured) }
}

/// Asks for what the trees of source code define and say.
fn exact(arguments: &Arguments, lists: &[&List]) -> Result<()> {
    for model in &arguments.models {
        let (mut served, mut missed) = (Vec::new(), Vec::new());
        for list in lists.iter().filter(|list| matches!(list.source, Source::Crate { .. })) {
            let place = Place::of(list)?;
            if let Place::Missing(reason) = &place {
                eprintln!("{}: skipped: {reason}", list.name);
                continue;
            }
            let tree = IndexedTree::new(list, &place, std::slice::from_ref(model))?;
            served.push(ask_exactly(&tree, model, &mut missed)?);
        }
        println!("{model}, names and messages of the trees themselves\n\n{}", exact_table(&served));
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
            "--model" => {
                let model = value()?;
                ensure!(MODELS.contains(&model.as_str()), "--model {model}: expected {}", MODELS.join(" or "));
                arguments.models.push(model);
            }
            "--cold" => arguments.cold = true,
            "--exact" => arguments.exact = true,
            "--misses" => arguments.misses = true,
            "--json" => arguments.json = true,
            "--evidence" => arguments.evidence = Some(value()?),
            "--family" => arguments.trees_of_family = Some(value()?),
            "--help" | "-h" => return Ok(None),
            other => bail!("{other}: unknown argument\n\n{USAGE}"),
        }
    }
    if arguments.models.is_empty() {
        arguments.models = MODELS.map(str::to_owned).to_vec();
    }
    arguments.models.dedup();
    Ok(Some(arguments))
}

fn of_model<'a>(measured: &'a [Measured], model: &str) -> Vec<&'a Measured> {
    measured.iter().filter(|measured| measured.model == model).collect()
}

fn print_tables(arguments: &Arguments, measured: &[Measured]) -> Result<()> {
    for model in &arguments.models {
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
    let models = arguments.models.iter().map(|model| {
        let lists = of_model(measured, model);
        let trees = lists.iter().map(|list| json!({ "figures": summary(&[list]), "measured": list }));
        let trees: Vec<_> = trees.collect();
        json!({ "model": model, "all": summary(&lists), "trees": trees })
    });
    let models: Vec<_> = models.collect();
    println!("{}", serde_json::to_string_pretty(&json!({ "models": models }))?);
    Ok(())
}
