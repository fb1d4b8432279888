use super::*;

/// A workspace of crates that are in no way special, in a directory of its own.
struct Made(tempfile::TempDir);

impl Made {
    fn new() -> Made {
        let made = Made(tempfile::tempdir().expect("a directory"));
        made.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"mill\", \"sieve\"]\n");
        made.write("LICENSE-MIT", "Permission is granted\n");
        made.package("mill", "", "");
        made.package("sieve", "[dependencies]\nmill = { path = \"../mill\", version = \"0.1.0\" }\n", "");
        made
    }

    fn package(&self, name: &str, dependencies: &str, source: &str) {
        self.write(
            &format!("{name}/Cargo.toml"),
            &format!(
                "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\nrust-version = \"1.85\"\n\
                 license = \"MIT\"\ndescription = \"Turns\"\nkeywords = [\"flour\"]\ncategories = [\"science\"]\n{dependencies}"
            ),
        );
        self.write(&format!("{name}/src/lib.rs"), source);
        self.write(&format!("{name}/README.md"), "# It turns\n");
        self.write(&format!("{name}/LICENSE-MIT"), "Permission is granted\n");
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn crates(&self) -> Result<Vec<Package>> {
        in_order(&MetadataCommand::new().current_dir(self.0.path()).no_deps().exec().expect("metadata"))
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for package in self.crates().expect("an order") {
            let files = packed(&package).expect("a list");
            faults.extend(manifest::faults(&package, self.0.path(), &files).expect("read"));
            faults.extend(includes::faults(&package, &files).expect("read"));
        }
        faults
    }
}

#[test]
fn every_crate_of_this_workspace_can_be_published() {
    let crates =
        check(&MetadataCommand::new().current_dir(root()).no_deps().exec().expect("metadata")).expect("no faults");
    assert!(crates.iter().any(|package| package.name == "tamis-cli"), "{crates:?}");
}

#[test]
fn a_crate_comes_after_those_that_it_depends_on() {
    let made = Made::new();
    let names =
        |made: &Made| made.crates().map(|crates| crates.iter().map(|package| package.name.to_string()).collect());
    let order: Vec<String> = names(&made).expect("an order");
    assert_eq!(order, ["mill", "sieve"]);
    assert_eq!(made.faults(), [""; 0]);

    made.package("mill", "publish = false\n", "");
    made.package("sieve", "", "");
    let published: Vec<String> = names(&made).expect("an order");
    assert_eq!(published, ["sieve"]);

    made.package("mill", "[dev-dependencies]\nsieve = { path = \"../sieve\", version = \"0.1.0\" }\n", "");
    made.package("sieve", "[dependencies]\nmill = { path = \"../mill\", version = \"0.1.0\" }\n", "");
    let circle: Result<Vec<String>> = names(&made);
    assert!(circle.expect_err("no order").to_string().contains("mill, sieve"));
}

#[test]
fn a_part_that_the_registry_asks_for_is_named() {
    let made = Made::new();
    let only = |expected: &str| {
        let faults = made.faults();
        assert!(faults.len() == 1 && faults[0].contains(expected), "{faults:?} for {expected}");
        made.package("mill", "", "");
    };
    made.write("mill/LICENSE-MIT", "Permission is denied\n");
    only("mill: LICENSE-MIT must be a copy");
    fs::remove_file(made.0.path().join("mill/README.md")).expect("removed");
    only("mill: README.md is missing");
    made.package("mill", "exclude = [\"LICENSE-MIT\"]\n", "");
    only("mill: LICENSE-MIT must be a copy");
    let manifest = fs::read_to_string(made.0.path().join("mill/Cargo.toml")).expect("read");
    made.write("mill/Cargo.toml", &manifest.replace("\"flour\"", "\"information-retrieval\""));
    only("information-retrieval");
    made.write("mill/Cargo.toml", &manifest.replace("description = \"Turns\"\n", ""));
    only("mill: Cargo.toml has no description");
    made.write("mill/Cargo.toml", &manifest.replace("license = \"MIT\"\n", ""));
    only("mill: license is \"\"");
}

#[test]
fn a_file_outside_the_package_must_not_be_included() {
    let made = Made::new();
    made.write("shared.txt", "flour");
    made.package("mill", "", "pub const A: &str = include_str!(\"../../shared.txt\");\n");
    let faults = made.faults();
    assert!(faults.len() == 1 && faults[0].contains("src/lib.rs includes \"../../shared.txt\""), "{faults:?}");
    made.package("mill", "", "pub const A: &str = include_str!(\"../README.md\");\n");
    assert_eq!(made.faults(), [""; 0]);
    made.package("mill", "exclude = [\"data.txt\"]\n", "pub const A: &str = include_str!(\"../data.txt\");\n");
    made.write("mill/data.txt", "flour");
    assert_eq!(made.faults().len(), 1);
}
