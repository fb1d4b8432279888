//! `tamis install`, with a home directory of its own: changes each client's file and nothing else.

use crate::support::{Tree, run};
use assert_cmd::Command;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The binary in a tree, with nothing of the machine's home or search path.
fn tamis(tree: &Tree, arguments: &[&str]) -> Command {
    let mut command = tree.tamis(arguments);
    command.env("HOME", tree.home()).env("USERPROFILE", tree.home());
    command.env("APPDATA", tree.home().join("AppData/Roaming"));
    command.env("LOCALAPPDATA", tree.home().join("AppData/Local"));
    command.env("PATH", tree.home().join("bin")).env_remove("XDG_CONFIG_HOME");
    for moved in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"] {
        command.env_remove(moved);
    }
    command
}

fn installs(tree: &Tree, arguments: &[&str]) -> String {
    let (code, out, err) = run(tamis(tree, arguments));
    assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    out
}

fn binary() -> String {
    assert_cmd::cargo::cargo_bin!("tamis").to_string_lossy().into_owned()
}

/// Puts the binary on the search path of [`tamis`].
#[cfg(unix)]
fn put_on_path(tree: &Tree) -> PathBuf {
    let directory = tree.home().join("bin");
    fs::create_dir_all(&directory).expect("made");
    std::os::unix::fs::symlink(binary(), directory.join("tamis")).expect("linked");
    directory.join("tamis")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root(tree: &Tree) -> String {
    dunce::canonicalize(tree.root()).expect("a path").to_string_lossy().into_owned()
}

#[test]
fn every_client_gets_its_own_form_and_gives_it_back() {
    let tree = Tree::empty();
    let root = root(&tree);
    let (home, command) = (tree.home(), binary());
    let directory = |project: &str| json!(["mcp", "--directory", project]);
    let plain = json!({"command": command, "args": ["mcp"]});
    let variable = "${workspaceFolder}";
    let cases: [(&str, PathBuf, &str, Value); 9] = [
        (
            "claude-code",
            tree.root().join(".mcp.json"),
            "mcpServers",
            json!({"type": "stdio", "command": command, "args": ["mcp"]}),
        ),
        (
            "claude-desktop",
            home.join(".config/Claude/claude_desktop_config.json"),
            "mcpServers",
            json!({"command": command, "args": directory(&root)}),
        ),
        (
            "copilot-cli",
            home.join(".copilot/mcp-config.json"),
            "mcpServers",
            json!({"type": "local", "command": command, "args": ["mcp"], "tools": ["*"]}),
        ),
        (
            "cursor",
            tree.root().join(".cursor/mcp.json"),
            "mcpServers",
            json!({"command": command, "args": directory(variable)}),
        ),
        ("gemini-cli", tree.root().join(".gemini/settings.json"), "mcpServers", plain),
        (
            "opencode",
            tree.root().join("opencode.json"),
            "mcp",
            json!({"type": "local", "command": [command, "mcp"], "enabled": true}),
        ),
        (
            "vscode",
            tree.root().join(".vscode/mcp.json"),
            "servers",
            json!({"type": "stdio", "command": command, "args": directory(variable)}),
        ),
        (
            "windsurf",
            home.join(".codeium/windsurf/mcp_config.json"),
            "mcpServers",
            json!({"command": command, "args": directory(&root)}),
        ),
        (
            "zed",
            home.join(".config/zed/settings.json"),
            "context_servers",
            json!({"command": command, "args": directory(&root)}),
        ),
    ];
    for (client, path, servers, entry) in cases {
        let dry = installs(&tree, &["install", "--client", client, "--dry-run"]);
        assert!(dry.contains("+++") && dry.contains("\"tamis\"") && !path.exists(), "{client}: {dry}");
        let out = installs(&tree, &["install", "--client", client]);
        assert!(out.contains("added the entry \"tamis\""), "{client}: {out}");
        let written: Value = serde_json::from_str(&read(&path)).expect("JSON");
        assert_eq!(written, json!({servers: {"tamis": entry}}), "{client}");
        assert!(installs(&tree, &["install", "--client", client]).contains("already"), "{client}");
        installs(&tree, &["install", "--client", client, "--remove"]);
        assert!(!path.exists(), "{client}: the file was made for the entry");
        assert!(installs(&tree, &["install", "--client", client, "--remove"]).contains("has no entry"), "{client}");
    }
    assert_eq!(fs::read_dir(tree.root()).expect("listed").count(), 1, "nothing but the mark is left in the project");
}

#[test]
fn comments_order_and_line_ends_stay() {
    let cases = [
        (
            "vscode",
            ".vscode/mcp.json",
            "{\n\t// mine\n\t\"inputs\": [], /* none */\n\t\"servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // last\n\t},\n}\n",
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            "{\r\n  \"z\": 1,\r\n  \"mcpServers\": {\r\n    \"a\": { \"url\": \"https://example.com\" }\r\n  }\r\n}\r\n",
        ),
        ("gemini-cli", ".gemini/settings.json", "\u{feff}{\n    \"theme\": \"x\"\n}"),
        ("opencode", "opencode.jsonc", "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n  // end\n}\n"),
        (
            "codex",
            ".codex/config.toml",
            "# top\nmodel = \"x\" # m\n\n[mcp_servers.other]\ncommand = \"a\"\n\n# about it\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n",
        ),
        ("codex", ".codex/config.toml", "a = 1\r\n\r\n[b]\r\nc = 2\r\n"),
        ("codex", ".codex/config.toml", "mcp_servers = { a = { command = \"x\" } }\n"),
    ];
    for (client, file, text) in cases {
        let tree = Tree::empty();
        let path = tree.write(file, text);
        installs(&tree, &["install", "--client", client]);
        let with = read(&path);
        assert!(with.contains("tamis") && with != text, "{with}");
        let lost: Vec<&str> =
            text.lines().filter(|line| !with.contains(line.trim_end_matches(['"', '}', ' ']))).collect();
        assert!(lost.is_empty(), "{client}: {lost:?} of {with}");
        assert_eq!(with.contains("\r\n"), text.contains("\r\n"), "{with:?}");
        installs(&tree, &["install", "--client", client, "--remove"]);
        assert_eq!(read(&path), text, "{client}");
    }
}

#[test]
fn codex_gets_a_table_and_a_file_of_its_own_goes_again() {
    let tree = Tree::empty();
    let path = tree.home().join("moved/config.toml");
    let codex = |arguments: &[&str]| {
        let mut command = tamis(&tree, arguments);
        command.env("CODEX_HOME", tree.home().join("moved"));
        run(command)
    };
    let (code, _, err) = codex(&["install", "--client", "codex", "--user", "--allow-remember"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("every project"), "{err}");
    let text = format!("[mcp_servers.tamis]\ncommand = \"{}\"\nargs = [\"mcp\", \"--allow-remember\"]\n", binary());
    assert_eq!(read(&path), text);
    assert_eq!(codex(&["install", "--client", "codex", "--user", "--remove"]).0, 0);
    assert!(!path.exists());
}

#[test]
fn what_is_not_ours_is_not_touched() {
    let tree = Tree::empty();
    let others = "{\"mcpServers\": {\"tamis\": {\"command\": \"npx\", \"args\": [\"tamis\", \"mcp\"]}}}\n";
    let path = tree.write(".mcp.json", others);
    for arguments in [&["install", "--client", "claude-code"][..], &["install", "--client", "claude-code", "--remove"]]
    {
        let (code, _, err) = run(tamis(&tree, arguments));
        assert_eq!(code, 2);
        assert!(err.contains(".mcp.json") && err.contains("--name") && err.contains("--force"), "{err}");
        assert_eq!(read(&path), others);
    }
    installs(&tree, &["install", "--client", "claude-code", "--name", "tamis-2"]);
    installs(&tree, &["install", "--client", "claude-code", "--name", "tamis-2", "--remove"]);
    installs(&tree, &["install", "--client", "claude-code", "--force"]);
    let written: Value = serde_json::from_str(&read(&path)).expect("JSON");
    assert_eq!(written["mcpServers"]["tamis"]["command"], json!(binary()));
}

#[test]
fn what_somebody_added_to_our_entry_stays() {
    let tree = Tree::empty();
    let ours = "{\n  \"mcpServers\": {\n    \"tamis\": {\n      \"command\": \"/old/bin/tamis\",\n      \"args\": [\"mcp\"],\n      // slow disk\n      \"env\": {\"TAMIS_INDEX_MODELS\": \"static\"}\n    }\n  }\n}\n";
    let path = tree.write(".cursor/mcp.json", ours);
    installs(&tree, &["install", "--client", "cursor"]);
    let with = read(&path);
    let expected = ours
        .replace("/old/bin/tamis", &binary())
        .replace("[\"mcp\"]", "[\"mcp\", \"--directory\", \"${workspaceFolder}\"]");
    assert_eq!(with, expected);
    let (code, _, err) = run(tamis(&tree, &["install", "--client", "cursor", "--remove"]));
    assert!(code == 2 && err.contains("env, comments") && err.contains("--force"), "{err}");
    assert_eq!(read(&path), expected, "nothing is taken that somebody put there");
    installs(&tree, &["install", "--client", "cursor", "--remove", "--force"]);
    assert_eq!(read(&path).trim(), "{}", "a file that was there stays");
}

#[test]
fn what_is_taken_out_is_exactly_what_was_put_in() {
    let cases = [
        ("cursor", ".cursor/mcp.json", "{}"),
        ("cursor", ".cursor/mcp.json", ""),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {}}"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"x\"}},\"z\":[1,2]}"),
        ("vscode", ".vscode/mcp.json", "{ \"servers\": { \"a\": {\"command\": \"x\"}, } } // one line\n"),
        ("codex", ".codex/config.toml", ""),
        ("codex", ".codex/config.toml", "[mcp_servers]\n"),
        ("codex", ".codex/config.toml", "model = \"x\" # no end of line"),
    ];
    for (client, file, text) in cases {
        let tree = Tree::empty();
        let path = tree.write(file, text);
        installs(&tree, &["install", "--client", client]);
        // Updated with other flags: removal undoes all of it.
        installs(&tree, &["install", "--client", client, "--allow-remember"]);
        assert!(read(&path).contains("--allow-remember"));
        installs(&tree, &["install", "--client", client, "--remove"]);
        assert_eq!(read(&path), text, "{client}");
    }
}

#[test]
fn only_directories_that_were_made_are_taken_away() {
    // The file is alone in an existing home, and in a directory that did not exist.
    let tree = Tree::empty();
    let home = tree.root().join("home");
    fs::create_dir(&home).expect("made");
    let run_at_home = |arguments: &[&str]| {
        let mut command = tamis(&tree, arguments);
        command.env("HOME", &home);
        let (code, out, err) = run(command);
        assert_eq!(code, 0, "{out}{err}");
    };
    for (client, made) in [("claude-code", ".claude.json"), ("cursor", ".cursor/mcp.json")] {
        run_at_home(&["install", "--client", client, "--user"]);
        assert!(home.join(made).is_file());
        run_at_home(&["install", "--client", client, "--user", "--remove"]);
        assert_eq!(fs::read_dir(&home).expect("the home itself stays").count(), 0, "{client}");
    }
    fs::create_dir(home.join(".cursor")).expect("made");
    run_at_home(&["install", "--client", "cursor", "--user"]);
    run_at_home(&["install", "--client", "cursor", "--user", "--remove"]);
    assert!(home.join(".cursor").is_dir(), "a directory that was there stays");
}

#[test]
fn a_key_that_somebody_added_is_not_taken_with_the_entry() {
    for (client, file, from, to) in [
        ("cursor", ".cursor/mcp.json", "\"args\"", "\"env\": {\"A\": \"b\"}, \"args\""),
        ("codex", ".codex/config.toml", "args =", "env = { A = \"b\" }\nargs ="),
        ("codex", ".codex/config.toml", "args =", "# why\nargs ="),
    ] {
        let tree = Tree::empty();
        let path = tree.root().join(file);
        installs(&tree, &["install", "--client", client]);
        let with = read(&path).replacen(from, to, 1);
        fs::write(&path, &with).expect("written");
        let (code, _, err) = run(tamis(&tree, &["install", "--client", client, "--remove"]));
        let what = if to.contains("env") { "env" } else { "comments" };
        assert!(code == 2 && err.contains(what) && err.contains("--force"), "{client}: {err}");
        assert_eq!(read(&path), with, "{client}");
        installs(&tree, &["install", "--client", client, "--remove", "--force"]);
        assert!(!path.exists(), "{client}: made for the entry, and nothing else is in it");
    }
    // A table under ours, which the added text does not show.
    let tree = Tree::empty();
    let path = tree.write(".codex/config.toml", "a = 1\n");
    installs(&tree, &["install", "--client", "codex"]);
    let with = read(&path) + "\n[mcp_servers.tamis.env]\nA = \"b\"\n";
    fs::write(&path, &with).expect("written");
    let (code, _, err) = run(tamis(&tree, &["install", "--client", "codex", "--remove"]));
    assert!(code == 2 && err.contains("env"), "{err}");
    assert_eq!(read(&path), with);
}

#[test]
fn what_others_put_in_beside_the_entry_stays_and_the_rest_goes() {
    let tree = Tree::empty();
    let path = tree.root().join(".mcp.json");
    installs(&tree, &["install", "--client", "claude-code", "--name", "one"]);
    installs(&tree, &["install", "--client", "claude-code", "--name", "two"]);
    installs(&tree, &["install", "--client", "claude-code", "--name", "one", "--remove"]);
    assert!(read(&path).contains("\"two\""));
    installs(&tree, &["install", "--client", "claude-code", "--name", "two", "--remove"]);
    assert!(!path.exists(), "the file was made for the two");

    installs(&tree, &["install", "--client", "claude-code"]);
    let with = read(&path).replacen("\"mcpServers\": {", "\"mcpServers\": {\n    \"a\": {\"command\": \"x\"},", 1);
    fs::write(&path, &with).expect("written");
    installs(&tree, &["install", "--client", "claude-code", "--remove"]);
    let left: Value = serde_json::from_str(&read(&path)).expect("JSON");
    assert_eq!(left, json!({"mcpServers": {"a": {"command": "x"}}}));
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone_and_named_with_its_line() {
    let cases = [
        ("cursor", ".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\" 1\n  }\n}\n", "line 3"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": []}\n", "mcpServers is not an object"),
        ("cursor", ".cursor/mcp.json", "[1]\n", "not an object"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {}, \"mcpServers\": {\"a\": {}}}\n", "twice"),
        ("codex", ".codex/config.toml", "a = 1\nb = = 2\n", "line 2"),
        ("codex", ".codex/config.toml", "mcp_servers = 3\n", "not a table"),
    ];
    for (client, file, text, told) in cases {
        let tree = Tree::empty();
        let path = tree.write(file, text);
        // The other client comes first: nothing of it is written either.
        let (code, out, err) = run(tamis(&tree, &["install", "--client", &format!("vscode,{client}")]));
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(file) && err.contains(told), "{told}: {err}");
        assert_eq!(read(&path), text);
        assert!(!tree.root().join(".vscode").exists());
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_permissions_kept() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::empty();
    let real = tree.home().join("dotfiles/claude.json");
    fs::create_dir_all(real.parent().expect("a parent")).expect("made");
    fs::write(&real, "{\n  \"numStartups\": 3\n}\n").expect("written");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("set");
    let link = tree.home().join(".claude.json");
    std::os::unix::fs::symlink(&real, &link).expect("linked");
    installs(&tree, &["install", "--client", "claude-code", "--user"]);
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(read(&real).contains("mcpServers"));
    assert_eq!(fs::metadata(&real).expect("there").permissions().mode() & 0o777, 0o600);
    let beside = fs::read_dir(real.parent().expect("a parent")).expect("listed").count();
    assert_eq!(beside, 1, "nothing is left beside the file");
}

#[cfg(unix)]
#[test]
fn a_program_on_the_path_is_named_so_that_the_file_serves_others_too() {
    let tree = Tree::empty();
    let on_path = put_on_path(&tree);
    installs(&tree, &["install", "--client", "claude-code,cursor,windsurf"]);
    let command = |path: &Path| {
        let written: Value = serde_json::from_str(&read(path)).expect("JSON");
        written["mcpServers"]["tamis"]["command"].clone()
    };
    assert_eq!(command(&tree.root().join(".mcp.json")), json!("tamis"));
    assert_eq!(command(&tree.root().join(".cursor/mcp.json")), json!("tamis"));
    // An application of the desktop may not have the shell's path.
    let windsurf = tree.home().join(".codeium/windsurf/mcp_config.json");
    assert_eq!(command(&windsurf), json!(on_path.to_string_lossy()));
}

#[test]
fn an_index_elsewhere_goes_with_the_entry() {
    let tree = Tree::empty();
    let index = tree.home().join("index").to_string_lossy().into_owned();
    installs(&tree, &["install", "--client", "claude-code", "--index", &index]);
    let written: Value = serde_json::from_str(&read(&tree.root().join(".mcp.json"))).expect("JSON");
    assert_eq!(written["mcpServers"]["tamis"]["args"], json!(["mcp", "--index", index]));
    let (code, _, err) = run(tamis(&tree, &["install", "--client", "claude-code", "--user", "--index", &index]));
    assert_eq!(code, 2);
    assert!(err.contains("every project"), "{err}");
}

#[test]
fn the_list_tells_what_is_here() {
    let tree = Tree::empty();
    fs::create_dir_all(tree.home().join(".cursor")).expect("made");
    installs(&tree, &["install", "--client", "cursor"]);
    tree.write(".vscode/mcp.json", "{ \"servers\": {\"tamis\": {\"command\": \"other\"}} }\n");
    tree.write(".gemini/settings.json", "nonsense");
    let listed: Value = serde_json::from_str(&installs(&tree, &["install", "--json"])).expect("JSON");
    let of = |name: &str| {
        let client = listed.as_array().expect("a list").iter().find(|client| client["client"] == name);
        client.unwrap_or_else(|| panic!("{name}")).clone()
    };
    assert_eq!((&of("cursor")["here"], &of("zed")["here"]), (&json!(true), &json!(false)));
    let entry = |name: &str| of(name)["files"][0]["entry"].clone();
    assert_eq!(entry("cursor"), "ours");
    assert_eq!((entry("vscode"), entry("gemini-cli")), (json!("others"), json!("unreadable")));
    let (_, table, _) = run(tamis(&tree, &["install"]));
    assert!(table.lines().count() > 10 && table.contains("another's"), "{table}");
}

#[test]
fn a_scope_that_a_client_has_not_and_a_bad_name_are_refused() {
    let tree = Tree::empty();
    for (arguments, told) in [
        (&["install", "--client", "windsurf", "--project"][..], "--project"),
        (&["install", "--client", "cursor", "--name", "a b"], "--name"),
        (&["install", "--client", "emacs"], "claude-code"),
        (&["install", "--remove"], "--client"),
    ] {
        let (code, _, err) = run(tamis(&tree, arguments));
        assert_eq!(code, 2, "{arguments:?}");
        assert!(err.contains(told), "{arguments:?}: {err}");
    }
}
