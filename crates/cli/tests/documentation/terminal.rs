//! The pictures of a terminal in the README, made from what the program prints.

use crate::compare::Aliases;
use crate::reader::Reader;
use anstyle::RgbColor;
use anstyle_svg::{Palette, Term, VGA};
use regex::Regex;
use std::fs;
use std::path::Path;

/// What is typed: a question with answers, and one without.
const COMMANDS: [&str; 2] =
    [r#"tamis search "when is a failed job tried again" --context 0"#, r#"tamis search "how do penguins keep warm""#];

#[test]
fn the_pictures_show_what_the_program_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
    let mut reader = Reader::new(None);
    reader.start_block("mill");
    let mut screen = String::new();
    for command in COMMANDS {
        let (_, lines) = reader.run(&command.replacen("tamis", "env -u NO_COLOR tamis --color always", 1));
        screen += &format!("\x1b[1;36m$\x1b[0m \x1b[1m{command}\x1b[0m\n{}\n\n", lines.join("\n"));
    }
    let id = Regex::new(r"\[query [0-9a-z]{8}\]").expect("a regular expression");
    let screen = id.replace_all(screen.trim_end(), "[query b60wx04g]");
    // Results of almost the same probability come in another order where another processor rounds the sums of an encoder.
    let place = Regex::new(r#" y="\d+px""#).expect("a regular expression");
    let lines = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(|line| place.replace_all(line, "").into_owned()).collect();
        lines.sort();
        lines
    };
    // Red to cyan, the numbers 1 to 6 of a terminal.
    let light = ["cf222e", "1a7f37", "9a6700", "0969da", "8250df", "1b7c83"];
    let dark = ["ff7b72", "3fb950", "d29922", "58a6ff", "bc8cff", "39c5cf"];
    for (name, text, ground, colours) in [("light", "1f2328", "f6f8fa", light), ("dark", "e6edf3", "161b22", dark)] {
        let mut palette = VGA.0;
        for (number, colour) in colours.into_iter().enumerate() {
            // The bright ones follow the eight others.
            palette[number + 1] = rgb(colour);
            palette[number + 9] = rgb(colour);
        }
        let term = Term::new().palette(Palette(palette)).fg_color(rgb(text).into()).bg_color(rgb(ground).into());
        let picture = term.render_svg(&screen);
        let path = folder.join(format!("terminal-{name}.svg"));
        if std::env::var_os("TAMIS_PAGES_WRITE").is_some() {
            fs::write(&path, &picture).expect("written");
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let is_equal = Aliases::default().equal(&lines(&kept), &lines(&picture), "");
        assert!(is_equal, "docs/images/terminal-{name}.svg is out of date; write it: cargo xtask site --write");
    }
}

/// A colour of six hexadecimal digits.
fn rgb(digits: &str) -> RgbColor {
    let number = u32::from_str_radix(digits, 16).expect("hexadecimal");
    let [_, red, green, blue] = number.to_be_bytes();
    RgbColor(red, green, blue)
}
