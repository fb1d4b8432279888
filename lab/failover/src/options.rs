//! The command line.

use anyhow::{Context, Result, bail, ensure};
use std::path::PathBuf;

/// The flags of the command, for its help.
pub const FLAGS: &str = "\
cargo xtask failover [--kills N] [--restarts N] [--seed N] [--debug | --binary FILE] [--keep]

Starts three PostgreSQL servers under Patroni with a synchronous standby, and Tamis with writers and readers on them. Kills the primary
and its Patroni again and again, and looks whether anything that was acknowledged is missing.

  --kills N        kill the primary N times (default: 10)
  --restarts N     then restart the primary's PostgreSQL N times (default: 5)
  --seed N         start the random numbers here (default: 1)
  --debug          build the program without optimisation
  --binary FILE    use this program instead of building one
  --keep           keep the directory with the logs

It needs Linux on x86_64, python3 with venv and pip, and the package index of Python on the first run. As root it runs the servers as
another user. Ctrl-C stops and removes everything.
";

/// What to do.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// Number of kills.
    pub kills: u32,
    /// Number of restarts after them.
    pub restarts: u32,
    /// Seed of the moments.
    pub seed: u64,
    /// Builds the program without optimisation.
    pub debug: bool,
    /// The program to use instead of building one.
    pub binary: Option<PathBuf>,
    /// Keeps the directory.
    pub keep: bool,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// A flag is unknown, or a value is missing or out of range.
    pub fn read(arguments: &[String]) -> Result<Options> {
        let mut options = Options { kills: 10, restarts: 5, seed: 1, debug: false, binary: None, keep: false };
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("{flag} needs a value\n\n{FLAGS}"));
            let number =
                |text: &String| text.parse::<u64>().with_context(|| format!("{flag} {text}: expected a number"));
            match flag.as_str() {
                "--kills" => options.kills = u32::try_from(number(value()?)?)?,
                "--restarts" => options.restarts = u32::try_from(number(value()?)?)?,
                "--seed" => options.seed = number(value()?)?,
                "--debug" => options.debug = true,
                "--binary" => options.binary = Some(value()?.into()),
                "--keep" => options.keep = true,
                other => bail!("{other}: unknown flag\n\n{FLAGS}"),
            }
        }
        ensure!(options.kills <= 1000, "--kills {}: must be 0 to 1000", options.kills);
        ensure!(options.restarts <= 1000, "--restarts {}: must be 0 to 1000", options.restarts);
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options> {
        Options::read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read_and_wrong_ones_refused() {
        let options = read("--kills 3 --seed 7 --binary /bin/tamis --keep").expect("flags");
        assert_eq!((options.kills, options.restarts, options.seed, options.keep), (3, 5, 7, true));
        assert_eq!(options.binary, Some("/bin/tamis".into()));
        for wrong in ["--kills", "--kills x", "--kills 1001", "--restarts -1", "-v", "up"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
