//! Fault rounds: one system call fails, or all of its class from one on.

use super::check::survived;
use super::random::Random;
use super::sandbox::{Running, Sandbox};
use super::setup::{Setup, VARIANTS};
use super::table::Outcome;
use super::work::Work;
use anyhow::{Context, Result, bail};
use std::fs;
use std::process::Command;

/// The errors of each class of calls. 0 stands for a transfer that is cut in half.
const ERRORS: &[(&str, &[(i32, &str)])] = &[
    (
        "write",
        &[(libc::EIO, "EIO"), (libc::ENOSPC, "ENOSPC"), (libc::EINTR, "EINTR"), (libc::EDQUOT, "EDQUOT"), (0, "short")],
    ),
    ("sync", &[(libc::EIO, "EIO"), (libc::ENOSPC, "ENOSPC"), (libc::EINTR, "EINTR")]),
    ("rename", &[(libc::EIO, "EIO"), (libc::ENOSPC, "ENOSPC")]),
    ("open", &[(libc::EIO, "EIO"), (libc::ENOSPC, "ENOSPC"), (libc::EMFILE, "EMFILE"), (libc::EINTR, "EINTR")]),
    ("truncate", &[(libc::EIO, "EIO"), (libc::ENOSPC, "ENOSPC"), (libc::EINTR, "EINTR")]),
    ("mmap", &[(libc::ENOMEM, "ENOMEM"), (libc::EIO, "EIO")]),
    ("read", &[(libc::EIO, "EIO"), (libc::EINTR, "EINTR"), (0, "short")]),
    ("unlink", &[(libc::EIO, "EIO")]),
];

/// Prepares the program with the library that makes calls on its files fail.
fn with_faults(setup: &Setup, sandbox: &Sandbox, arguments: &[&str]) -> Result<Command> {
    let library = match &setup.faults {
        Ok(library) => library,
        Err(reason) => bail!("{reason}"),
    };
    let mut command = sandbox.command(arguments);
    command
        .env("LD_PRELOAD", library)
        .env("FAULT_UNDER", sandbox.tree())
        .env("FAULT_LOG", sandbox.directory().join("fault"));
    Ok(command)
}

/// Makes a call of some work fail and checks the index it leaves.
///
/// # Errors
/// Something was lost.
pub fn round(setup: &Setup, random: &mut Random, sandbox: &mut Option<Sandbox>) -> Result<Outcome> {
    let (work, variant) = (Work::any(random), random.below(VARIANTS));
    let reference = setup.reference(work, variant)?;
    let arguments = work.arguments(&setup.base);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();

    let counts = setup.calls(work, variant, || {
        let sandbox = Sandbox::copy_of(&setup.base.sandbox)?;
        work.prepare(&sandbox, variant)?;
        Running::start(&mut with_faults(setup, &sandbox, &arguments)?)?.end()?;
        fs::read_to_string(sandbox.directory().join("fault.counts")).context("the counts of calls")
    })?;
    let count = |class: &str| {
        let line = counts.lines().find_map(|line| line.strip_prefix(class)?.trim().parse::<u64>().ok());
        line.unwrap_or_default()
    };
    let known: Vec<_> = ERRORS.iter().filter(|(class, _)| count(class) > 0).collect();
    let (class, errors) = random.pick(&known);
    let number = 1 + random.below(count(class));
    let (error, name) = *random.pick(errors);
    // A full or broken disk lasts. An interruption or a short transfer does not.
    let stays = error != 0 && error != libc::EINTR && random.below(3) == 0;

    let sandbox = &*sandbox.insert(Sandbox::copy_of(&setup.base.sandbox)?);
    work.prepare(sandbox, variant)?;
    let mut command = with_faults(setup, sandbox, &arguments)?;
    command.env("FAULT_CALL", class).env("FAULT_NUMBER", number.to_string()).env("FAULT_ERRNO", error.to_string());
    if stays {
        command.env("FAULT_STAYS", "1");
    }
    let ended = Running::start(&mut command)?.end()?;
    let landed = sandbox.directory().join("fault.fired").exists();
    let summary = format!(
        "{work:?}, variant {variant}, {class} {number} of {} fails with {name}{}, landed: {landed}, {}",
        count(class),
        if stays { " and all after it" } else { "" },
        ended.to_string().trim()
    );
    if let Some(fault) = ended.fault() {
        bail!("{summary}: {fault}");
    }
    let transient = error == libc::EINTR || error == 0;
    if transient && *class != "open" && *class != "sync" && *class != "truncate" && ended.code() != Some(0) {
        bail!("{summary}: a call that only needs a retry ended the work");
    }
    survived(setup, sandbox, work, &reference, &ended, random.below(2) == 0).with_context(|| summary.clone())?;
    Ok(Outcome { landed, summary })
}
