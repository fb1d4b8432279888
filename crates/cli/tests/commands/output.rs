//! Colour, pipes, completions and manual pages.

use crate::support::{Tree, bare, run};
use std::io::Read;
use std::process::{Command, Stdio};

const ASK: [&str; 2] = ["search", "how hot should the oven be"];

#[test]
fn colour_is_for_terminals_unless_asked_for() {
    let tree = Tree::indexed();
    let colours = |flags: &[&str], no_color: bool| {
        let mut command = tree.tamis(&[&ASK[..], flags].concat());
        if no_color {
            command.env("NO_COLOR", "1");
        }
        run(command).1.contains('\u{1b}')
    };
    assert!(!colours(&[], false), "a pipe is no terminal");
    assert!(!colours(&["--color", "never"], false));
    assert!(colours(&["--color", "always"], false));
    assert!(!colours(&["--color", "auto"], true));
    assert!(colours(&["--color", "always"], true), "a flag is stronger than the environment");
}

#[test]
fn escape_sequences_in_files_do_not_reach_the_reader() {
    let tree = Tree::new();
    tree.write("docs/trap.md", "# Trap\n\nA kraken \u{1b}[2J\u{1b}]0;owned\u{7} clears the screen.\n");
    let (code, out, _) = run(tree.tamis(&["search", "--color", "always", "--mode", "lexical", "kraken"]));
    assert_eq!(code, 0);
    assert!(out.contains("␛[2J␛]0;owned␇") && !out.contains("\u{1b}[2J"), "{out:?}");
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let tree = Tree::empty();
    // More text than any pipe holds.
    for file in 0..40 {
        tree.write(
            &format!("part{file}.md"),
            &"# Kelp\n\nKelp grows in cold water, and this line is long.\n\n".repeat(60),
        );
    }
    tree.tamis(&["index"]).assert().success();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("tamis"))
        .args(["search", "--json", "--no-refresh", "--cut", "fixed:k=1000", "-n", "1000", "--context", "500", "kelp"])
        .current_dir(tree.root())
        .env("TAMIS_CONFIG_HOME", tree.home())
        .env("TAMIS_INDEX_MODELS", "static")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut out = child.stdout.take().expect("a pipe");
    out.read_exact(&mut [0; 16]).expect("some output");
    drop(out);
    let mut err = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
    let status = child.wait().expect("ends");
    assert_eq!((status.code(), err.as_str()), (Some(0), ""));
}

#[test]
fn help_lists_the_cuts_and_shows_examples() {
    let (code, out, _) = run(bare(&["search", "--help"]));
    assert_eq!(code, 0);
    for part in
        ["Cut methods, with their parameters", "background: ", "kneedle: ", "lambda=0.65", "Examples:", "--explain"]
    {
        assert!(out.contains(part), "{part} is not in:\n{out}");
    }
    let (_, short, _) = run(bare(&["search", "-h"]));
    assert!(short.contains("Examples:") && !short.contains("lambda=0.65"), "the short help stays short");
    let (code, out, _) = run(bare(&["--help"]));
    assert_eq!(code, 0);
    assert!(out.contains("Exit status") && !out.contains("schema"), "{out}");
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, out, err) = run(bare(&["completions", shell]));
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("tamis") && out.contains("no-refresh"), "{shell}");
    }
    let (code, _, err) = run(bare(&["completions", "csh"]));
    assert_eq!(code, 2);
    assert!(err.contains("bash") && err.contains("zsh"), "{err}");
}

#[test]
fn manual_pages_for_all_commands() {
    let (code, out, _) = run(bare(&["man"]));
    assert_eq!(code, 0);
    assert!(out.contains(".TH tamis 1"), "{out}");
    let tree = Tree::empty();
    tree.tamis(&["man", "pages"]).assert().success();
    for page in ["tamis.1", "tamis-search.1", "tamis-cut.1", "tamis-tune-eval.1", "tamis-setup-hook.1"] {
        assert!(tree.root().join("pages").join(page).is_file(), "{page}");
    }
    assert!(!tree.root().join("pages/tamis-schema.1").exists(), "hidden commands have no page");
}
