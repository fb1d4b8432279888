//! One small file a language, and its passages.

#![cfg(feature = "grammars")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tamis_text::{Document, Options, read};

fn fixture(name: &str) -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    read(&format!("src/{name}"), &bytes, &Options::default())
}

/// One line a passage: lines, kind, symbol, context, and the role if it differs from the file's.
fn outline(document: &Document) -> String {
    let (language, title) = (document.language.unwrap_or("unknown"), document.title.as_deref().unwrap_or_default());
    let mut text = format!("{language} {} title={title:?}\n", document.role);
    for note in &document.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for passage in &document.passages {
        let name = passage.symbol.as_deref().or(passage.heading.as_deref()).unwrap_or("-");
        let _ = write!(text, "{}-{} {} {name}", passage.start_line, passage.end_line, passage.kind);
        if passage.role != document.role {
            let _ = write!(text, " ({})", passage.role);
        }
        for line in passage.context.iter().flat_map(|context| context.lines()) {
            let _ = write!(text, " | {line}");
        }
        text.push('\n');
    }
    text
}

#[test]
fn every_language_is_divided_as_its_snapshot_shows() {
    for line in [
        "rust shelf.rs", "python inventory.py", "go queue.go", "java Ledger.java", "typescript cart.ts",
        "tsx Badge.tsx", "javascript router.js", "jsx List.jsx", "c ring.c", "c_header ring.h", "cpp matrix.cpp",
        "markdown guide.md", "restructuredtext manual.rst", "text notes.txt", "asciidoc handbook.adoc",
        "csharp Ledger.cs", "ruby inventory.rb", "php Mailer.php", "kotlin Playlist.kt", "swift Recipe.swift",
        "shell deploy.sh", "bash backup.bash", "scala Orders.scala", "haskell Shelf.hs", "elixir shelf.ex",
        "lua shelf.lua", "zig shelf.zig", "sql library.sql", "hcl network.tf", "protobuf orders.proto",
        "dart counter.dart", "powershell Backup.ps1", "r growth.R", "solidity Vault.sol", "graphql orders.graphql",
        "vue OrderList.vue", "svelte Counter.svelte", "toml settings.toml",
    ] {
        let (name, file) = line.split_once(' ').expect("a name and a file");
        insta::assert_snapshot!(name, outline(&fixture(file)));
    }
}
