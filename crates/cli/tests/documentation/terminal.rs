//! The pictures of a terminal in the README, made from what the program prints.

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
    let light = [
        (2, RgbColor(26, 127, 55)),
        (3, RgbColor(154, 103, 0)),
        (4, RgbColor(9, 105, 218)),
        (5, RgbColor(130, 80, 223)),
        (6, RgbColor(27, 124, 131)),
    ];
    let dark = [
        (2, RgbColor(63, 185, 80)),
        (3, RgbColor(210, 153, 34)),
        (4, RgbColor(88, 166, 255)),
        (5, RgbColor(188, 140, 255)),
        (6, RgbColor(57, 197, 207)),
    ];
    for (name, text, ground, colours) in [
        ("light", RgbColor(31, 35, 40), RgbColor(246, 248, 250), light),
        ("dark", RgbColor(230, 237, 243), RgbColor(22, 27, 34), dark),
    ] {
        let mut palette = VGA.0;
        for (number, colour) in colours {
            // The bright ones follow the eight others.
            for place in [number, number + 8] {
                palette[place] = colour;
            }
        }
        let term = Term::new().palette(Palette(palette)).fg_color(text.into()).bg_color(ground.into());
        let picture = term.render_svg(&screen);
        let path = folder.join(format!("terminal-{name}.svg"));
        if std::env::var_os("TAMIS_PAGES_WRITE").is_some() {
            fs::write(&path, &picture).expect("written");
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == picture, "docs/images/terminal-{name}.svg is out of date; write it: cargo xtask site --write");
    }
}
