//! Whole processes: what each costs, and ripgrep beside `grep`.

use super::tree::{ms, timed};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Runs of a command. The kernel counts processor time in steps of 10 ms, so only the mean of many says more.
const RUNS: u32 = 40;

/// The `tamis` beside this benchmark.
pub fn program() -> Result<PathBuf, Box<dyn Error>> {
    Ok(std::env::current_exe()?.with_file_name("tamis"))
}

/// A first index by the program: seconds, peak of memory in MB, and bytes on disk.
pub fn first_index(tree: &Path, directory: &Path) -> Result<(f64, u64, u64), Box<dyn Error>> {
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M"]).arg(program()?).arg("--index").arg(directory).args(["index", "--quiet"]);
    command.current_dir(tree).env("TAMIS_INDEX_MODELS", "static");
    let (took, output) = timed(|| Ok(command.output()?))?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(errors.into());
    }
    let peak: u64 = errors.lines().last().ok_or("no peak of memory")?.parse()?;
    Ok((took.as_secs_f64(), peak / 1000, super::tree::stat_all(directory)?))
}

/// What processes cost on a small tree and on this one.
pub fn report(tree: &Path) -> Result<(), Box<dyn Error>> {
    let program = program()?;
    let small = tempfile::tempdir()?;
    for number in 1..=10 {
        let text = format!("# Note {number}\n\nThe mill grinds {number} sacks of grain an hour.\n");
        fs::write(small.path().join(format!("{number}.md")), text)?;
    }
    let tamis = |arguments: &[&str]| cost(&program, arguments, small.path(), "static,minilm");
    tamis(&["search", "how much grain", "--json"])?;
    println!("process, tamis --version: {}", tamis(&["--version"])?);
    println!("process, search of ten files: {}", tamis(&["search", "how much grain", "--json"])?);
    for (name, pattern) in [("a literal", "memory_map"), ("a regular expression", r"fn \w+_with\(")] {
        let own = cost(&program, &["grep", pattern], tree, "static")?;
        match cost(Path::new("rg"), &[pattern, "."], tree, "") {
            Ok(other) => println!(
                "process, grep of {name}: {own}; ripgrep {other}; {:.2} x its processor time",
                own.over(&other)
            ),
            Err(_) => println!("process, grep of {name}: {own}; there is no rg to compare with"),
        }
    }
    Ok(())
}

struct Cost {
    wall: Duration,
    processor: Duration,
}

impl Cost {
    fn over(&self, other: &Cost) -> f64 {
        self.processor.as_secs_f64() / other.processor.as_secs_f64()
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "p50 {:.1} ms, {:.1} ms of processor time", ms(self.wall), ms(self.processor))
    }
}

/// The median time of a command, and its mean processor time on all cores.
fn cost(program: &Path, arguments: &[&str], tree: &Path, models: &str) -> Result<Cost, Box<dyn Error>> {
    let before = processor_of_children()?;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(tree);
        command.env("TAMIS_CONFIG_HOME", tree.join(".none")).env("TAMIS_INDEX_MODELS", models);
        let (took, output) = timed(|| Ok(command.output()?))?;
        if output.status.code() == Some(2) {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        times.push(took);
    }
    times.sort();
    Ok(Cost { wall: times[times.len() / 2], processor: (processor_of_children()? - before) / RUNS })
}

fn processor_of_children() -> Result<Duration, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit_once(')').ok_or("no stat")?.1.split_whitespace().collect();
    Ok(Duration::from_millis((fields[13].parse::<u64>()? + fields[14].parse::<u64>()?) * 10))
}
