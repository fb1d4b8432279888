//! The rounds of a table, and the flags that choose them.

use super::random::Random;
use anyhow::{Context, Result, bail, ensure};
use std::fmt;
use std::path::PathBuf;

/// The disturbance of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// SIGKILL at any moment of a piece of work.
    Kill,
    /// A system call that fails.
    Fault,
    /// Damaged files of the index.
    Corrupt,
    /// A full disk, or a limit on the size of files.
    Disk,
    /// SIGKILL of a server under load.
    Server,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Kill, Kind::Fault, Kind::Corrupt, Kind::Disk, Kind::Server];

    fn name(self) -> &'static str {
        match self {
            Kind::Kill => "kill",
            Kind::Fault => "fault",
            Kind::Corrupt => "corrupt",
            Kind::Disk => "disk",
            Kind::Server => "server",
        }
    }

    fn named(name: &str) -> Result<Kind> {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        found.with_context(|| format!("{name}: unknown kind of round; expected one of {}", names.join(", ")))
    }

    /// Returns the number of rounds of this kind for a number of kills.
    fn share(self, rounds: u64) -> u64 {
        match self {
            Kind::Kill | Kind::Fault => rounds,
            // Each takes many steps and varies less.
            Kind::Corrupt | Kind::Disk | Kind::Server => rounds.div_ceil(5),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One round. The same three values repeat it, up to the machine's own timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Round {
    /// The disturbance.
    pub kind: Kind,
    /// Its number among those of its kind, from 1.
    pub number: u64,
    /// The seed of the whole table.
    pub seed: u64,
}

impl Round {
    /// Returns the round's own random numbers.
    pub fn random(&self) -> Random {
        let mut mixed = Random(self.seed);
        mixed.0 ^= Random(self.kind as u64 + 1).next_u64();
        mixed.0 ^= Random(self.number << 8).next_u64();
        mixed
    }

    /// Returns the command that repeats this round.
    pub fn command(&self) -> String {
        format!("cargo xtask torture --seed {} --round {} {}", self.seed, self.number, self.kind)
    }
}

/// The options of the command line.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The seed of the table.
    pub seed: u64,
    /// The number of kills and of faults. The other kinds get a fifth as many.
    pub rounds: u64,
    /// The kinds to run; all when empty.
    pub kinds: Vec<Kind>,
    /// The one round to run.
    pub only: Option<(u64, Kind)>,
    /// The number of rounds at a time.
    pub jobs: usize,
    /// Builds the program without optimisation.
    pub debug: bool,
    /// The program to use instead of building one.
    pub binary: Option<PathBuf>,
    /// Keeps the directories of rounds that lost something.
    pub keep: bool,
    /// Kills servers, workers and the database of a team instead.
    pub postgres: bool,
}

/// The flags of the command, for its help.
pub const FLAGS: &str = "\
cargo xtask torture [--seed N] [--rounds N] [--kind KIND]… [--round K KIND] [--jobs N] [--debug | --binary FILE] [--keep]

  --seed N         start the random numbers here (default: 1); the first line of output names the seed
  --rounds N       run N kills, N faults and a fifth as many rounds of each other kind (default: 500)
  --kind KIND      run rounds of this kind only: kill, fault, corrupt, disk, server
  --round K KIND   run the K-th round of a kind only, and describe it
  --jobs N         run N rounds at a time (default: 2)
  --debug          build the program without optimisation
  --binary FILE    use this program instead of building one
  --keep           keep the directories of rounds that lost something
  --postgres       instead, run N rounds with an index in PostgreSQL (default: 100): kill a server, a worker or the database
";

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// A flag is unknown, or a value is missing or out of range.
    pub fn read(arguments: &[String]) -> Result<Options> {
        let mut options = Options { seed: 1, jobs: 2, ..Options::default() };
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{flag} needs a value\n\n{FLAGS}"));
            let number =
                |text: &String| text.parse::<u64>().with_context(|| format!("{flag} {text}: expected a number"));
            match flag.as_str() {
                "--seed" => options.seed = number(value()?)?,
                "--rounds" => options.rounds = number(value()?)?,
                "--jobs" => options.jobs = usize::try_from(number(value()?)?)?,
                "--kind" => options.kinds.push(Kind::named(value()?)?),
                "--round" => {
                    let at = number(value()?)?;
                    options.only = Some((at, Kind::named(value()?)?));
                }
                "--debug" => options.debug = true,
                "--binary" => options.binary = Some(value()?.into()),
                "--keep" => options.keep = true,
                "--postgres" => options.postgres = true,
                other => bail!("{other}: unknown flag\n\n{FLAGS}"),
            }
        }
        if !arguments.iter().any(|argument| argument == "--rounds") {
            options.rounds = if options.postgres { 100 } else { 500 };
        }
        ensure!(
            !options.postgres || (options.kinds.is_empty() && options.only.is_none() && !options.keep),
            "--postgres: its rounds build on each other; leave --kind, --round and --keep out"
        );
        ensure!((1..=64).contains(&options.jobs), "--jobs {}: must be 1 to 64", options.jobs);
        ensure!((1..=1_000_000).contains(&options.rounds), "--rounds {}: must be 1 to 1000000", options.rounds);
        Ok(options)
    }

    /// Returns the rounds with the kinds mixed, so that a table stopped early has some of each.
    pub fn rounds(&self) -> Vec<Round> {
        let round = |kind, number| Round { kind, number, seed: self.seed };
        if let Some((number, kind)) = self.only {
            return vec![round(kind, number)];
        }
        let kinds = Kind::ALL.into_iter().filter(|kind| self.kinds.is_empty() || self.kinds.contains(kind));
        let mut placed: Vec<(f64, Round)> = kinds
            .flat_map(|kind| {
                let share = kind.share(self.rounds);
                (1..=share).map(move |number| (number as f64 / share as f64, round(kind, number)))
            })
            .collect();
        placed.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        placed.into_iter().map(|(_, round)| round).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options> {
        Options::read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_round_is_the_same_by_its_seed_kind_and_number_alone() {
        let whole = read("--seed 7 --rounds 20").expect("flags").rounds();
        let one = read("--seed 7 --round 3 fault").expect("flags").rounds();
        let same = whole.iter().find(|round| round.kind == Kind::Fault && round.number == 3).expect("a third");
        assert_eq!(one, [*same]);
        assert_eq!(one[0].random().next_u64(), same.random().next_u64());
        let chances: std::collections::BTreeSet<u64> = whole.iter().map(|round| round.random().next_u64()).collect();
        assert_eq!(chances.len(), whole.len(), "every round has random numbers of its own");
    }

    #[test]
    fn five_hundred_rounds_are_five_hundred_kills_and_faults() {
        let rounds = read("").expect("flags").rounds();
        let of = |kind| rounds.iter().filter(|round| round.kind == kind).count();
        assert_eq!(Kind::ALL.map(of), [500, 500, 100, 100, 100]);
        assert_eq!(read("--rounds 2 --kind disk").expect("flags").rounds().len(), 1);
    }

    #[test]
    fn flags_that_do_not_exist_are_refused() {
        for wrong in ["--rounds", "--rounds x", "--rounds 0", "--kind none", "--round 1", "--jobs 0", "-v"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
