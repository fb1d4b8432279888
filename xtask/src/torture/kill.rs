//! Kill rounds: SIGKILL at a seeded moment of a piece of work.

use super::check::survived;
use super::ground::{Ground, VARIANTS};
use super::plan::Random;
use super::sandbox::{Running, Sandbox};
use super::table::Outcome;
use super::work::Work;
use anyhow::{Context, Result};
use std::time::Duration;

/// Kills some work and checks what is left.
///
/// # Errors
/// Something was lost.
pub fn round(ground: &Ground, random: &mut Random, sandbox: &mut Option<Sandbox>) -> Result<Outcome> {
    let (work, variant) = (*random.pick(&Work::CHANGING), random.below(VARIANTS));
    let reference = ground.reference(work, variant)?;
    let sandbox = &*sandbox.insert(Sandbox::copy_of(&ground.base.sandbox)?);
    work.prepare(sandbox, variant)?;

    let arguments = work.arguments(&ground.base);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let running = Running::start(&mut sandbox.command(&arguments))?;
    // A run says when each of its stages begins; other work is waited for by the time that it takes.
    let says = matches!(work, Work::Index | Work::IndexNew);
    let took = u64::try_from(reference.took.as_micros())?;
    let moment = match says {
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
    let told = format!("{work:?}, variant {variant}, killed {moment}, landed: {landed}");
    survived(ground, sandbox, work, &reference, &ended, random.below(2) == 0).with_context(|| told.clone())?;
    Ok(Outcome { landed, told })
}
