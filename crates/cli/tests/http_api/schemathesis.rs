//! Requests that schemathesis derives from the description of the API find no fault: no failure of the server, no answer that
//! breaks its schema, nothing accepted that the schema refuses.
//!
//! It is a program of PyPI (`pip install schemathesis`); without it, the test says so and passes.

use crate::served::{kitchen, serve};
use std::process::Command;

/// Values with a syntax of their own (dates, cuts, SQL, names of namespaces) can fit the schema and still be refused. A head that
/// is too long is refused before anything reads it.
const CONFIG: &str = "[checks.positive_data_acceptance]\n\
    expected-statuses = [\"2xx\", \"3xx\", 400, 401, 403, 404, 409, 431]\n\
    [checks.negative_data_rejection]\n\
    expected-statuses = [\"4xx\"]\n";

/// The seed of the requests, so that each run makes the same.
const SEED: &str = "1";

/// Requests for each operation and phase.
const EXAMPLES: &str = "8";

#[test]
fn requests_derived_from_the_description_find_no_fault() {
    let program = std::env::var("SCHEMATHESIS").unwrap_or_else(|_| "schemathesis".to_owned());
    if Command::new(&program).arg("--version").output().is_err() {
        eprintln!("skipped: {program} is not installed (pip install schemathesis, or its path in SCHEMATHESIS)");
        return;
    }
    let root = kitchen();
    let config = root.join("schemathesis.toml");
    std::fs::write(&config, CONFIG).expect("written");
    std::fs::create_dir_all(root.join("user")).expect("made");
    std::fs::write(root.join("user/config.toml"), "[mcp]\nrequests_per_minute = 0\n").expect("written");
    let server = serve(&root, &["--allow-feedback", "--allow-remember", "--allow-refresh", "--log", "warn"]);
    let mut command = Command::new(&program);
    command.current_dir(&*root).arg("--config-file").arg(&config);
    command.args(["run", &format!("http://{}/v1/openapi.json", server.address)]);
    // A stream of events never ends.
    command.args(["--exclude-path", "/v1/events"]);
    command.args(["--checks", "all", "--max-examples", EXAMPLES, "--seed", SEED, "--no-color"]);
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("Tested: "), "{said}");
}
