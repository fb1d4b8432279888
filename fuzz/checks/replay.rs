//! Replays the seeds and past findings of the fuzz targets in a test.

use std::fs;
use std::path::Path;

/// Gives each input of a target in `fuzz/seeds` and `fuzz/regressions` to its check.
pub fn replay(target: &str, check: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut inputs = 0;
    for part in ["seeds", "regressions"] {
        let Ok(entries) = fs::read_dir(fuzz.join(part).join(target)) else { continue };
        for entry in entries {
            let path = entry.expect("listed").path();
            println!("{}", path.display());
            check(&fs::read(&path).expect("read"));
            inputs += 1;
        }
    }
    assert!(inputs > 0, "there is nothing of {target} in {}", fuzz.display());
}
