//! Which rounds there are, and chance that can be repeated.

use anyhow::{Context, Result, bail, ensure};
use std::fmt;
use std::path::PathBuf;

/// What a round does to the program or to its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// SIGKILL at any moment of a piece of work.
    Kill,
    /// A system call that fails.
    Fault,
    /// Files of the index that are damaged.
    Corrupt,
    /// A disk that is full, or a limit on the size of files.
    Disk,
    /// SIGKILL of a server that clients are asking.
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
        found.with_context(|| format!("{name}: no such kind of round; one of {}", names.join(", ")))
    }

    /// How many rounds of this kind go with so many kills.
    fn share(self, rounds: u64) -> u64 {
        match self {
            Kind::Kill | Kind::Fault => rounds,
            // Many steps each, and less chance in them.
            Kind::Corrupt | Kind::Disk | Kind::Server => rounds.div_ceil(5),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One round. The same three values do the same again, up to what the machine's own timing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Round {
    /// What is done.
    pub kind: Kind,
    /// Which one of its kind, from 1.
    pub number: u64,
    /// What chance begins with, the same for a whole table.
    pub seed: u64,
}

impl Round {
    /// The round's own chance.
    pub fn random(&self) -> Random {
        let mut mixed = Random(self.seed);
        mixed.0 ^= Random(self.kind as u64 + 1).next();
        mixed.0 ^= Random(self.number << 8).next();
        mixed
    }

    /// The command that does this round again.
    pub fn command(&self) -> String {
        format!("cargo xtask torture --seed {} --round {} {}", self.seed, self.number, self.kind)
    }
}

/// A small generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which counts as 1 when it is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where chance begins.
    pub seed: u64,
    /// Kills and faults; of the other kinds a fifth as many.
    pub rounds: u64,
    /// Only these kinds; empty: all.
    pub kinds: Vec<Kind>,
    /// Only this round.
    pub only: Option<(u64, Kind)>,
    /// Rounds that run at the same time.
    pub jobs: usize,
    /// Build and use the program without optimisation.
    pub debug: bool,
    /// Use this program and build none.
    pub binary: Option<PathBuf>,
    /// Leave the directories of rounds that lost something.
    pub keep: bool,
}

/// The flags of the command, for its help.
pub const FLAGS: &str = "\
cargo xtask torture [--seed N] [--rounds N] [--kind KIND]… [--round K KIND] [--jobs N] [--debug | --binary FILE] [--keep]

  --seed N         where chance begins (default: 1); a table says which one it used
  --rounds N       so many kills and so many faults, and a fifth as many of each other kind (default: 500)
  --kind KIND      only rounds of this kind: kill, fault, corrupt, disk, server
  --round K KIND   only the K-th round of a kind, with all that it did
  --jobs N         rounds at the same time (default: 2)
  --debug          the program without optimisation
  --binary FILE    this program, as it is
  --keep           leave the directories of rounds that lost something
";

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// An unknown flag, or a value that is missing or not allowed.
    pub fn read(arguments: &[String]) -> Result<Options> {
        let mut options = Options {
            seed: 1,
            rounds: 500,
            kinds: Vec::new(),
            only: None,
            jobs: 2,
            debug: false,
            binary: None,
            keep: false,
        };
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{flag} needs a value\n\n{FLAGS}"));
            let number = |text: &String| text.parse::<u64>().with_context(|| format!("{flag} {text}: not a number"));
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
                other => bail!("{other}: no such flag\n\n{FLAGS}"),
            }
        }
        ensure!((1..=64).contains(&options.jobs), "--jobs {}: must be 1 to 64", options.jobs);
        ensure!((1..=1_000_000).contains(&options.rounds), "--rounds {}: must be 1 to 1000000", options.rounds);
        Ok(options)
    }

    /// The rounds, the kinds mixed, so that a table that is stopped early has some of each.
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
        assert_eq!(one[0].random().next(), same.random().next());
        let chances: std::collections::BTreeSet<u64> = whole.iter().map(|round| round.random().next()).collect();
        assert_eq!(chances.len(), whole.len(), "no two rounds have the same chance");
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
