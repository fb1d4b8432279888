//! The CPU time of a process, for the examples that measure.

use std::error::Error;
use std::fs;

/// Returns the CPU time of all threads of this process, as the kernel counts it, in steps of 10 ms.
pub fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |at: usize| -> Result<f64, Box<dyn Error>> { Ok(fields.get(at).ok_or("the field is missing")?.parse()?) };
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}
