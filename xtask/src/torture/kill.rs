//! Kill rounds: SIGKILL at a seeded moment of a piece of work.

use super::check::survived;
use super::random::Random;
use super::sandbox::{Running, Sandbox};
use super::setup::{Setup, VARIANTS};
use super::table::Outcome;
use super::work::Work;
use anyhow::{Context, Result};
use std::time::Duration;

/// Kills some work and checks the index it leaves.
///
/// # Errors
/// Something was lost.
pub fn round(setup: &Setup, random: &mut Random, sandbox: &mut Option<Sandbox>) -> Result<Outcome> {
    let (work, variant) = (*random.pick(&Work::CHANGING), random.below(VARIANTS));
    let reference = setup.reference(work, variant)?;
    let sandbox = &*sandbox.insert(Sandbox::copy_of(&setup.base.sandbox)?);
    work.prepare(sandbox, variant)?;

    let arguments = work.arguments(&setup.base);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let running = Running::start(&mut sandbox.command(&arguments))?;
    // An index run reports each of its stages. For other work, the moment is a part of its usual time.
    let reports_stages = matches!(work, Work::Index | Work::IndexNew);
    let took = u64::try_from(reference.took.as_micros())?;
    let moment = match reports_stages {
        true => {
            let stages = random.below(6);
            for _ in 0..stages {
                if running.lines.recv_timeout(Duration::from_secs(60)).is_err() {
                    break;
                }
            }
            let then = random.below(took / 4);
            std::thread::sleep(Duration::from_micros(then));
            format!("{then} µs after stage {stages}")
        }
        false => {
            let then = took / 20 + random.below(took);
            std::thread::sleep(Duration::from_micros(then));
            format!("{then} of {took} µs after its start")
        }
    };
    let ended = running.kill()?;
    let landed = ended.is_killed();
    let summary = format!("{work:?}, variant {variant}, killed {moment}, landed: {landed}");
    survived(setup, sandbox, work, &reference, &ended, random.below(2) == 0).with_context(|| summary.clone())?;
    Ok(Outcome { landed, summary })
}
