use super::*;
use std::fs;

const LINUX_ONLY: &str = "[target.'cfg(target_os = \"linux\")'.dependencies]\n";

/// A workspace whose dependencies are empty crates within it, so that nothing is fetched.
struct Made(tempfile::TempDir);

impl Made {
    fn new() -> Made {
        let workspace = Made(tempfile::tempdir().expect("a temporary directory"));
        workspace.write(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\", \"other/*\"]\n\
             [workspace.package]\nversion = \"0.1.0\"\nedition = \"2024\"\nrust-version = \"1.94\"\nlicense = \"MIT\"\n\
             description = \"A test\"\n[workspace.lints]\n[workspace.dependencies]\n",
        );
        workspace
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// Adds an empty crate that the members can depend on.
    fn dependency(&self, name: &str, features: &[&str]) {
        let features: String = features.iter().map(|feature| format!("{feature:?} = []\n")).collect();
        let manifest =
            format!("[package]\nname = {name:?}\nversion = \"1.0.0\"\nedition = \"2024\"\n[features]\n{features}");
        self.write(&format!("other/{name}/Cargo.toml"), &manifest);
        self.write(&format!("other/{name}/src/lib.rs"), "");
        let root = self.0.path().join("Cargo.toml");
        let text = fs::read_to_string(&root).expect("read");
        fs::write(root, format!("{text}{name} = {{ path = \"other/{name}\" }}\n")).expect("written");
    }

    /// Adds a crate with one file.
    fn member(&self, dependencies: &str, source: &str) {
        let package = "[package]\nname = \"mill\"\nversion = \"1.0.0\"\nedition = \"2024\"\n";
        self.write("crates/mill/Cargo.toml", &format!("{package}{dependencies}"));
        self.write("crates/mill/src/lib.rs", source);
    }

    fn read(&self) -> Workspace {
        // Cargo resolves links on the way to the temporary directory.
        Workspace::read(&self.0.path().canonicalize().expect("a path")).expect("read")
    }

    fn missing(&self) -> Vec<String> {
        lines(&self.read())
    }
}

fn lines(workspace: &Workspace) -> Vec<String> {
    workspace.missing().expect("checked").iter().map(|missing| missing.to_string().replace('\\', "/")).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// Makes a workspace with the server's own manifest and sources, and empty crates for its dependencies.
fn server(manifest: &str) -> Made {
    let workspace = Made::new();
    copy(&root().join("crates/server/src"), &workspace.0.path().join("crates/server/src"));
    workspace.write("crates/server/Cargo.toml", manifest);
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, rest) in manifest.lines().filter_map(|line| line.split_once(" = { workspace = true")) {
        let features = rest.split('"').skip(1).step_by(2);
        known.entry(name).or_default().extend(features);
    }
    for (name, features) in known {
        workspace.dependency(name, &features);
    }
    workspace
}

#[test]
fn dependencies_under_the_header_of_one_system_are_missed_on_the_others() {
    let manifest = fs::read_to_string(root().join("crates/server/Cargo.toml")).expect("read");
    assert_eq!(server(&manifest).missing(), [""; 0]);

    // With the header of one system too high, everything below it exists there alone.
    let (own, above) = ("[target.'cfg(unix)'.dependencies]\n", "[dependencies]\ntamis = { workspace = true }\n");
    assert!(manifest.contains(own) && manifest.contains(above), "{manifest}");
    let displaced = manifest.replace(own, "").replace(above, &format!("{above}{LINUX_ONLY}"));
    let missing = server(&displaced).missing();
    for platform in ["x86_64-pc-windows-msvc", "aarch64-apple-darwin", "x86_64-apple-darwin"] {
        for name in ["tokio", "serde", "hyper"] {
            let expected = format!(
                "names `{name}`, which {platform} does not have: crates/server/Cargo.toml lists it only under \
                 [target.'cfg(target_os = \"linux\")'.dependencies]"
            );
            assert!(
                missing.iter().any(|line| line.starts_with("crates/server/src/") && line.ends_with(&expected)),
                "{expected}: {missing:#?}"
            );
        }
    }
    assert!(missing.iter().all(|line| !line.contains("linux-gnu does") && !line.contains("musl does")), "{missing:#?}");
}

#[test]
fn code_under_a_condition_may_name_the_crates_of_that_condition() {
    let workspace = Made::new();
    workspace.dependency("hoist", &[]);
    let dependencies = format!("{LINUX_ONLY}hoist = {{ workspace = true }}\n");
    workspace.member(&dependencies, "");
    let read = workspace.read();
    let fits = |source: &str| {
        workspace.write("crates/mill/src/lib.rs", source);
        lines(&read).is_empty()
    };
    assert!(fits("#[cfg(target_os = \"linux\")]\npub fn lift() { hoist::lift() }\n"));
    assert!(fits("pub fn lift() { #[cfg(target_os = \"linux\")] hoist::lift(); }\n"));
    assert!(fits("pub fn lift() { #[cfg(target_os = \"linux\")] let _ = hoist::lift(); }\n"));
    assert!(fits("pub fn lift(n: u8) { match n { #[cfg(target_os = \"linux\")] 1 => hoist::lift(), _ => {} } }\n"));
    assert!(fits("#![cfg(target_os = \"linux\")]\nuse hoist::lift;\n"));
    assert!(fits(
        "pub fn lift() { self::inner::hoist::lift() }\npub mod inner { pub mod hoist { pub fn lift() {} } }\n"
    ));
    for source in [
        "#[cfg(unix)]\nuse hoist::lift;\n",
        "#[cfg(not(windows))]\npub fn lift() { hoist::lift() }\n",
        "pub fn lift() { println!(\"{}\", hoist::lift()) }\n",
        "#[derive(Clone, hoist::Lift)]\npub struct Mill;\n",
        "pub struct Mill { pub at: Option<hoist::Place> }\n",
        "pub use {std::fmt, hoist as lift};\n",
        "#[cfg(test)]\nmod tests { use hoist::lift; }\n",
    ] {
        assert!(!fits(source), "{source}");
    }
    workspace.write("crates/mill/src/wheel/spoke.rs", "use hoist::lift;\n");
    workspace.write("crates/mill/src/wheel/mod.rs", "#[cfg(target_os = \"linux\")]\nmod spoke;\n");
    assert!(fits("mod wheel;\n"), "a module's file is under its condition");
    workspace.write("crates/mill/src/wheel/mod.rs", "mod spoke;\n");
    assert!(!fits("mod wheel;\n"));
    let line = "crates/mill/src/wheel/spoke.rs:1 names `hoist`, which x86_64-pc-windows-msvc does not have";
    assert!(lines(&read).iter().any(|missing| missing.starts_with(line)), "{:?}", lines(&read));
    workspace.write("crates/mill/src/axle.rs", "");
    assert!(fits(
        "#[cfg_attr(windows, path = \"axle.rs\")]\n#[cfg_attr(not(target_os = \"linux\"), path = \"axle.rs\")]\nmod wheel;\n"
    ));
}

#[test]
fn tests_may_name_more_crates_than_shipped_code() {
    let workspace = Made::new();
    workspace.dependency("hoist", &[]);
    let dependencies = "[dev-dependencies]\nhoist = { workspace = true }\n";
    workspace.member(dependencies, "#[cfg(test)]\nmod tests { use hoist::lift; }\n");
    workspace.write("crates/mill/tests/lifts.rs", "use hoist::lift;\n");
    let read = workspace.read();
    assert_eq!(lines(&read), [""; 0]);
    workspace.write("crates/mill/src/lib.rs", "use hoist::lift;\n");
    assert_eq!(lines(&read).len(), PLATFORMS.len());
}
