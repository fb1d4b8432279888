//! The names that a file imports from others, as far as its import statements say. Pure.

use super::use_site::{Before, Defined, Nearness, Site};

/// Languages in which a name from another file must be imported.
const STRICT: [&str; 6] = ["rust", "python", "typescript", "tsx", "javascript", "jsx"];

/// Words of import statements that do not name a module.
const WORDLESS: [&str; 12] =
    ["use", "pub", "import", "from", "export", "as", "const", "let", "var", "require", "type", "default"];

/// The import statements of a file.
#[derive(Debug, Default)]
pub(super) struct Imports {
    strict: bool,
    /// The words of each statement.
    statements: Vec<Vec<String>>,
}

impl Imports {
    /// Reads the import statements from the lines of a file.
    pub(super) fn of<'a>(language: Option<&str>, lines: impl Iterator<Item = &'a str>) -> Imports {
        let mut imports =
            Imports { strict: language.is_some_and(|language| STRICT.contains(&language)), statements: Vec::new() };
        let mut open: Option<String> = None;
        for line in lines {
            let begins = open.is_none() && begins_import(line);
            let Some(statement) = (if begins { Some(String::new()) } else { open.take() }) else { continue };
            let statement = statement + " " + line;
            let count = |of: [char; 2]| statement.matches(of).count();
            if count(['(', '{']) > count([')', '}']) {
                open = Some(statement);
            } else {
                imports.statements.push(words(&statement));
            }
        }
        imports
    }

    /// True if an unqualified name, or the name a method is called on, can mean a definition this near.
    pub(super) fn allow(
        &self,
        name: &str,
        before: Before<'_>,
        defined: &Defined<'_>,
        site: &Site<'_>,
        nearness: Nearness,
    ) -> bool {
        let name = match before {
            Before::Nothing => name,
            Before::Path(holder) | Before::Named(holder) if holder.starts_with(char::is_uppercase) => holder,
            _ => return true,
        };
        if nearness == Nearness::File {
            return true;
        }
        let mut naming = self.with(name).peekable();
        if naming.peek().is_some() {
            return naming.any(|words| leads_to(words, name, site.path, defined.path));
        }
        // A macro can be visible everywhere, and importing a whole module does not list names.
        let by_all = || self.with("*").any(|words| leads_to(words, name, site.path, defined.path));
        !self.strict || defined.kind == "macro" || by_all()
    }

    /// The statements that hold a word.
    fn with<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a Vec<String>> {
        self.statements.iter().filter(move |words| words.iter().any(|other| other == word))
    }
}

fn begins_import(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
    let keyword = ["use ", "import ", "from ", "using "].iter().any(|keyword| line.starts_with(keyword));
    keyword || (line.starts_with("export ") && line.contains(" from ")) || line.contains("require(")
}

fn words(statement: &str) -> Vec<String> {
    let is_of_word = |character: char| character.is_alphanumeric() || character == '_' || character == '$';
    let mut words: Vec<String> = statement
        .split(|character| !is_of_word(character))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    if statement.contains('*') {
        words.push("*".to_owned());
    }
    // A relative path, as scripts write it.
    if statement.contains("'.") || statement.contains("\".") || statement.trim_start().starts_with("from .") {
        words.push("self".to_owned());
    }
    words
}

/// Returns `true` if the module that a statement in the file `from` names can be the file at `path`.
fn leads_to(words: &[String], name: &str, from: &str, path: &str) -> bool {
    let within = |word: &String| ["crate", "super", "self"].contains(&word.as_str());
    if words.iter().any(within) {
        return path.starts_with(package(from));
    }
    // Without the extension, which can have the same name as a package.
    let part = |part: &str| part.split('.').next().unwrap_or(part).replace('-', "_").to_lowercase();
    let parts: Vec<String> = path.split('/').map(part).collect();
    words.iter().filter(|word| *word != name && !WORDLESS.contains(&word.as_str())).any(|word| {
        let word = word.to_lowercase();
        // A package is often named like its directory with a prefix.
        parts
            .iter()
            .any(|part| word == *part || word.strip_suffix(part.as_str()).is_some_and(|front| front.ends_with('_')))
    })
}

/// The directory of the package that a file belongs to, if its path shows it.
fn package(path: &str) -> &str {
    let inside = ["src/", "tests/", "examples/", "benches/"];
    let starts = inside.iter().filter_map(|part| match path.starts_with(part) {
        true => Some(0),
        false => path.find(&format!("/{part}")).map(|at| at + 1),
    });
    &path[..starts.min().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn allows(language: &str, text: &str, name: &str, path: &str) -> bool {
        let defined =
            Defined { symbol: name, kind: "type", namespace: "n", path, language: Some(language), is_test: false };
        let site = Site {
            namespace: "n",
            path: "crates/tamis/src/a.rs",
            language: Some(language),
            owner: None,
            is_test: false,
        };
        Imports::of(Some(language), text.lines()).allow(name, Before::Nothing, &defined, &site, Nearness::Elsewhere)
    }

    #[test]
    fn imports_are_read_in_each_language() {
        let text =
            "use std::path::{Path, PathBuf};\nuse tamis_store::{\n    Cache, \n    Store, \n};\nuse crate::Error;\n";
        assert!(!allows("rust", text, "Path", "crates/text/src/sections.rs"));
        assert!(allows("rust", text, "Cache", "crates/store/src/cache.rs"));
        assert!(!allows("rust", text, "Cache", "crates/embed/src/memory.rs"));
        assert!(allows("rust", text, "Error", "crates/tamis/src/error.rs"));
        assert!(!allows("rust", text, "Result", "crates/store/src/error.rs"), "not brought in at all");
        assert!(allows("rust", "use super::*;\n", "Result", "crates/tamis/src/error.rs"));
        assert!(!allows("rust", "use super::*;\n", "Result", "crates/store/src/error.rs"), "another package");
        assert!(!allows("rust", "use rayon::prelude::*;\n", "Result", "crates/tamis/src/error.rs"));

        assert!(allows("python", "from tools.garden import (\n    water,\n)\n", "water", "tools/garden.py"));
        assert!(!allows("python", "from numpy import water\n", "water", "tools/garden.py"));
        assert!(allows("python", "from .garden import water\n", "water", "crates/tamis/garden.py"));
        assert!(allows("typescript", "import { heat } from './kettle';\n", "heat", "crates/tamis/kettle.ts"));
        assert!(!allows("typescript", "import { heat } from 'physics';\n", "heat", "web/kettle.ts"));
        assert!(allows("javascript", "const { heat } = require('../kettle')\n", "heat", "crates/tamis/kettle.js"));
        assert!(allows("go", "", "Grind", "mill/mill.go"), "a package needs no statement for its own files");
        assert!(!allows("java", "import java.util.List;\n", "List", "src/shop/List.java"));
        assert!(allows("java", "", "Shop", "src/shop/Shop.java"));

        let defined =
            Defined { symbol: "T", kind: "type", namespace: "n", path: "a.rs", language: Some("rust"), is_test: false };
        let site = Site { namespace: "n", path: "b.rs", language: Some("rust"), owner: None, is_test: false };
        let none = Imports::of(Some("rust"), "".lines());
        let allow = |name, before, nearness| none.allow(name, before, &defined, &site, nearness);
        assert!(allow("T", Before::Nothing, Nearness::File) && allow("open", Before::Value, Nearness::Elsewhere));
        assert!(allow("open", Before::Named("door"), Nearness::Elsewhere));
        assert!(!allow("open", Before::Path("Door"), Nearness::Elsewhere));
        let known_everywhere = Defined { kind: "macro", ..defined };
        assert!(none.allow("m", Before::Nothing, &known_everywhere, &site, Nearness::Elsewhere));

        assert_eq!(package("crates/tamis/src/related/names.rs"), "crates/tamis/");
        assert_eq!(package("crates/store/tests/store/common.rs"), "crates/store/");
        assert_eq!(package("src/lib.rs"), "");
        assert_eq!(package("tools/garden.py"), "");
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "(use |import |\\PC|\n|[{}();*]){0,40}", name in "[a-z]{1,3}") {
            allows("rust", &text, &name, "src/a.rs");
        }
    }
}
