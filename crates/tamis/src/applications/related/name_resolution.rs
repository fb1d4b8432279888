//! Resolves a used name to its possible definitions. Pure: names, places and the text of a line, nothing else.
//!
//! Nothing here knows types. Definitions of one name are distinguished by what precedes the name, the kind of each
//! definition, and its distance. If several remain, all of them are returned.

use std::cmp::Reverse;
use std::collections::HashMap;

use tamis_text::{Language, NAME_SEPARATORS, ReferenceKind, Relation, SYMBOL_SEPARATOR};

use super::{Before, Defined, Nearness, Site};

/// Method names in the standard libraries of most languages. On a value of unknown type they reveal nothing.
#[rustfmt::skip]
const EVERYWHERE: [&str; 96] = [
    "add", "all", "and_then", "any", "append", "apply", "as_ref", "as_str", "bind", "call", "catch", "chain", "clear",
    "clone", "close", "cmp", "collect", "contains", "copy", "count", "default", "delete", "drop", "ends_with", "entry", "eq",
    "equals", "every", "execute", "exists", "expect", "extend", "filter", "find", "first", "flush", "fmt", "fold", "forEach",
    "format", "from", "get", "hash", "has", "index", "insert", "into", "is_empty", "items", "iter", "join", "keys", "last",
    "len", "length", "lock", "log", "map", "matches", "max", "min", "name", "new", "next", "open", "parse", "path", "pop",
    "position", "prepare", "print", "push", "put", "read", "recv", "remove", "replace", "reverse", "run", "send", "set", "size",
    "skip", "slice", "sort", "split", "start", "stop", "sum", "take", "then", "to_owned", "toString", "update", "values", "write",
];

/// Languages in which a dot also separates a module from its members.
const DOTTED: [&str; 9] = ["python", "go", "typescript", "tsx", "javascript", "jsx", "csharp", "kotlin", "swift"];

/// The last part of a qualified name, and the part before it, both without type arguments.
pub(crate) fn last_parts(symbol: &str) -> (&str, Option<&str>) {
    let (outer, last) = split(symbol);
    (bare(last), outer.map(|outer| bare(split(outer).1)).filter(|outer| !outer.is_empty()))
}

fn split(symbol: &str) -> (Option<&str>, &str) {
    let end = bare_end(symbol);
    let found = NAME_SEPARATORS.iter().filter_map(|separator| Some((symbol[..end].rfind(separator)?, separator.len())));
    match found.max() {
        Some((at, length)) => (Some(&symbol[..at]), &symbol[at + length..]),
        None => (None, symbol),
    }
}

/// The name without type arguments at the end.
fn bare(name: &str) -> &str {
    name[..bare_end(name)].trim_start_matches(['&', '*', '@'])
}

/// The position at which a name's type arguments begin; its length if it has none.
fn bare_end(name: &str) -> usize {
    if !name.ends_with('>') {
        return name.len();
    }
    let mut depth = 0usize;
    for (at, character) in name.char_indices().rev() {
        match character {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    name.len()
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

/// The text before each occurrence of a name in a line, each once. If the line calls the name, only calls count.
pub(crate) fn before<'a>(line: &'a str, name: &str) -> Vec<Before<'a>> {
    if name.is_empty() {
        return Vec::new();
    }
    let (mut called, mut mentioned) = (Vec::new(), Vec::new());
    for (at, _) in line.match_indices(name) {
        let (front, back) = (&line[..at], &line[at + name.len()..]);
        if front.ends_with(is_of_name) || back.starts_with(is_of_name) {
            continue;
        }
        let is_called = back.trim_start().starts_with(['(', '!']) || back.starts_with("::<");
        let found = if is_called { &mut called } else { &mut mentioned };
        let before = front_of(front);
        if !found.contains(&before) {
            found.push(before);
        }
    }
    if called.is_empty() { mentioned } else { called }
}

/// What stands at the end of the text before a name.
pub(crate) fn front_of(front: &str) -> Before<'_> {
    let separator = ["::", "?.", "!.", "->", ".", "\\"].into_iter().find(|separator| front.ends_with(separator));
    let Some(front) = separator.and_then(|separator| front.strip_suffix(separator)) else { return Before::Nothing };
    let front = front.trim_end_matches(['?', '!']);
    let plain = front[..bare_end(front)].trim_end_matches("::");
    let start = plain
        .rfind(|character| !is_of_name(character))
        .map_or(0, |at| at + plain[at..].chars().next().map_or(1, char::len_utf8));
    match &plain[start..] {
        "" => Before::Value,
        "self" | "this" | "Self" | "cls" | "static" | "$this" | "me" => Before::Own,
        "crate" => Before::Root,
        "super" if separator == Some("::") => Before::Root,
        "super" | "parent" | "base" => Before::Value,
        number if number.starts_with(|first: char| first.is_ascii_digit()) => Before::Value,
        path if matches!(separator, Some("::" | "\\")) => Before::Path(path),
        named => Before::Named(named.trim_start_matches('$')),
    }
}

/// The definitions that a name can mean in its place: the nearest of those that fit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Meant {
    pub nearness: Nearness,
    /// True if nothing but the name speaks for them: the type of the value before it is unknown.
    pub is_guess: bool,
    /// Positions among all definitions of the name.
    pub positions: Vec<usize>,
}

/// The definitions that `name` can mean in its place. All of `defined` define something of that name.
pub(crate) fn meant(
    name: &str,
    kind: ReferenceKind,
    before: Before<'_>,
    site: &Site<'_>,
    imports: &Imports,
    defined: &[Defined<'_>],
) -> Option<Meant> {
    let allowed: Vec<_> =
        defined.iter().map(|one| imports.allow(name, before, one, site, nearness(site, one))).collect();
    let fitting = (0..defined.len()).filter(|&at| fits(kind, site, &defined[at]) && allowed[at].is_some()).collect();
    let (mut fitting, is_guess) = qualified(name, kind, before, site, defined, fitting);
    // Those in the module that the import names, and of these the nearest.
    let rank = |at: &usize| (Reverse(allowed[*at]), nearness(site, &defined[*at]));
    let best = fitting.iter().map(rank).min()?;
    fitting.retain(|at| rank(at) == best);
    Some(Meant { nearness: best.1, is_guess, positions: fitting })
}

/// Returns `true` if code in the site's language can refer to a definition of that kind and language at all.
fn fits(kind: ReferenceKind, site: &Site<'_>, defined: &Defined<'_>) -> bool {
    let related = match (site.language, defined.language) {
        (Some(asked), Some(found)) => Language::relation(asked, found) != Relation::Other,
        _ => false,
    };
    // Only tests use what tests define.
    related && (kind == ReferenceKind::Call || !is_called(defined.kind)) && (site.is_test || !defined.is_test)
}

fn is_called(kind: &str) -> bool {
    matches!(kind, "function" | "method" | "macro")
}

fn is_method(defined: &Defined<'_>) -> bool {
    defined.kind == "method"
}

/// The definitions that match what precedes the name, and `true` if that is only guessed.
fn qualified(
    name: &str,
    kind: ReferenceKind,
    before: Before<'_>,
    site: &Site<'_>,
    defined: &[Defined<'_>],
    fitting: Vec<usize>,
) -> (Vec<usize>, bool) {
    let only = |keep: &dyn Fn(&Defined<'_>) -> bool| -> Vec<usize> {
        fitting.iter().copied().filter(|&at| keep(&defined[at])).collect()
    };
    let held_by = |defined: &Defined<'_>, holder: &str| holders(defined, name).any(|known| known == holder);
    let own = |defined: &Defined<'_>| site.owner.is_some_and(|owner| held_by(defined, owner));
    let methods = || if EVERYWHERE.contains(&name) { Vec::new() } else { only(&is_method) };
    let dotted = site.language.is_some_and(|language| DOTTED.contains(&language));
    let known = match before {
        // An unqualified call can mean a method of the type that the code belongs to.
        Before::Nothing | Before::Root if kind == ReferenceKind::Call => {
            first([only(&|one| !is_method(one)), only(&own)])
        }
        Before::Nothing | Before::Root => fitting.clone(),
        Before::Own => only(&own),
        Before::Value => Vec::new(),
        // A type without such a member here is defined elsewhere.
        Before::Path(holder) => first([only(&|one| held_by(one, holder)), only(&|one| is_module_of(one, holder))]),
        Before::Named(holder) => {
            let module = only(&|one| dotted && is_module_of(one, holder));
            let held = first([only(&|one| held_by(one, holder)), module]);
            if holder.starts_with(char::is_uppercase) {
                return (held, false);
            }
            // A variable is often named after its type, or the end of it.
            let plain = holder.replace('_', "").to_lowercase();
            let like = |one: &Defined<'_>| holders(one, name).any(|known| known.to_lowercase().ends_with(&plain));
            first([held, only(&|one| is_method(one) && like(one))])
        }
    };
    match before {
        Before::Own | Before::Value | Before::Named(_) if known.is_empty() => (methods(), true),
        _ => (known, false),
    }
}

/// The first list that is not empty.
fn first<const N: usize>(choices: [Vec<usize>; N]) -> Vec<usize> {
    choices.into_iter().find(|choice| !choice.is_empty()).unwrap_or_default()
}

/// The types or modules that hold the symbols of that name.
fn holders<'a>(defined: &Defined<'a>, name: &str) -> impl Iterator<Item = &'a str> {
    let name = name.to_owned();
    defined.symbol.split(SYMBOL_SEPARATOR).filter_map(move |symbol| {
        let (last, holder) = last_parts(symbol);
        holder.filter(|_| last == name)
    })
}

/// Returns `true` if something is defined in the module of that name: a file or directory so named.
fn is_module_of(defined: &Defined<'_>, name: &str) -> bool {
    // What is in the file of a directory is in the module of its name.
    let path = defined.path.strip_suffix("/__init__.py").unwrap_or(defined.path);
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    let is_named = file.split('.').next() == Some(name) || directory.rsplit('/').next() == Some(name);
    !is_method(defined) && (is_named || defined.package == Some(name))
}

fn nearness(site: &Site<'_>, defined: &Defined<'_>) -> Nearness {
    let directory = |path: &str| path.rsplit_once('/').map_or(String::new(), |(directory, _)| directory.to_owned());
    match site.namespace == defined.namespace {
        true if site.path == defined.path => Nearness::File,
        true if directory(site.path) == directory(defined.path) => Nearness::Directory,
        _ => Nearness::Elsewhere,
    }
}

// The names that a file imports from others, as far as its import statements say. Pure.

/// Languages in which a name from another file must be imported.
const STRICT: [&str; 6] = ["rust", "python", "typescript", "tsx", "javascript", "jsx"];

/// Words of import statements that do not name a module.
const WORDLESS: [&str; 12] =
    ["use", "pub", "import", "from", "export", "as", "const", "let", "var", "require", "type", "default"];

/// The import statements of a file.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    strict: bool,
    /// The words of each statement.
    statements: Vec<Vec<String>>,
    /// The names that the file gives to what it imports, and the names in their definitions: `Timeout as Expired`.
    aliases: HashMap<String, String>,
}

impl Imports {
    /// Reads the import statements from the lines of a file.
    pub(crate) fn parse<'a>(language: Option<&str>, lines: impl Iterator<Item = &'a str>) -> Imports {
        let mut imports =
            Imports { strict: language.is_some_and(|language| STRICT.contains(&language)), ..Imports::default() };
        let mut open: Option<String> = None;
        for line in lines {
            let begins = open.is_none() && begins_import(line);
            let Some(statement) = (if begins { Some(String::new()) } else { open.take() }) else { continue };
            let statement = statement + " " + line;
            let count = |of: [char; 2]| statement.matches(of).count();
            if count(['(', '{']) > count([')', '}']) {
                open = Some(statement);
            } else {
                let words = words(&statement);
                imports.aliases.extend(renamed(&words));
                if language == Some("go") {
                    imports.aliases.extend(go_aliases(&statement));
                }
                imports.statements.push(words);
            }
        }
        imports
    }

    /// The name in its definition of what the file calls `name`.
    pub(crate) fn defined_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// Whether an unqualified name, or the name a method is called on, can mean a definition this near: `None` if not, else the number
    /// of parts of its path that the import of the name names.
    pub(crate) fn allow(
        &self,
        name: &str,
        before: Before<'_>,
        defined: &Defined<'_>,
        site: &Site<'_>,
        nearness: Nearness,
    ) -> Option<usize> {
        let parts = |words: &Vec<String>, name| leads_to(words, name, site.path, defined.path);
        let name = match before {
            Before::Nothing => name,
            Before::Path(holder) | Before::Named(holder) if holder.starts_with(char::is_uppercase) => holder,
            Before::Named(_) if !site.language.is_some_and(|language| DOTTED.contains(&language)) => return Some(0),
            // A module, whose import can name more of its path.
            Before::Path(holder) | Before::Named(holder) => {
                return Some(self.with(holder).filter_map(|words| parts(words, "")).max().unwrap_or(0));
            }
            _ => return Some(0),
        };
        if nearness == Nearness::File {
            return Some(usize::MAX);
        }
        let naming: Vec<&Vec<String>> = self.with(name).collect();
        if !naming.is_empty() {
            let found = naming.iter().filter_map(|words| parts(words, name)).max();
            // Imports within functions can each mean another.
            return if naming.len() == 1 { found } else { found.map(|_| 1) };
        }
        // A macro can be visible everywhere, and importing a whole module does not list names.
        let by_all = || self.with("*").any(|words| parts(words, name).is_some());
        (!self.strict || defined.kind == "macro" || by_all()).then_some(0)
    }

    /// The statements that hold a word.
    fn with<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a Vec<String>> {
        self.statements.iter().filter(move |words| words.iter().any(|other| other == word))
    }
}

/// The new names in an import, and what they stand for: `Timeout as Expired`. A module is named before `{self as errors}` and after
/// `* as errors from`.
fn renamed(words: &[String]) -> Vec<(String, String)> {
    let module = || {
        words.iter().skip_while(|word| *word != "from").filter(|word| !["*", "self"].contains(&word.as_str())).last()
    };
    let renamed = words.windows(3).enumerate().filter(|(_, three)| three[1] == "as");
    let meant = renamed.filter_map(|(at, three)| {
        let whole = match three[0].as_str() {
            "self" => words[..at].last(),
            "import" | "export" => module(),
            word if WORDLESS.contains(&word) => None,
            _ => Some(&three[0]),
        };
        Some((three[2].clone(), whole?.clone()))
    });
    meant.collect()
}

/// The names before the paths of packages in an import of Go: `config "example.org/app/settings"`.
fn go_aliases(statement: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = statement.split('"').collect();
    let alias = |pair: &[&str]| {
        let before = pair[0].split_whitespace().next_back()?;
        let name = !["import", "(", "_", "."].contains(&before);
        name.then(|| (before.to_owned(), pair[1].rsplit('/').next().unwrap_or_default().to_owned()))
    };
    parts.chunks_exact(2).filter_map(alias).collect()
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

/// The number of parts of `path` that a statement in the file `from` names; `None` if the module that it names is another one.
fn leads_to(words: &[String], name: &str, from: &str, path: &str) -> Option<usize> {
    let within = words.iter().any(|word| ["crate", "super", "self"].contains(&word.as_str()));
    // Without the extension, which can have the same name as a package.
    let part = |part: &str| part.split('.').next().unwrap_or(part).replace('-', "_").to_lowercase();
    let parts: Vec<String> = path.split('/').map(part).collect();
    let words = words.iter().filter(|word| *word != name && !WORDLESS.contains(&word.as_str()));
    let words: Vec<String> = words.map(|word| word.to_lowercase()).collect();
    // A package is often named like its directory with a prefix.
    let names = |part: &&String| {
        words
            .iter()
            .any(|word| word.strip_suffix(part.as_str()).is_some_and(|front| front.is_empty() || front.ends_with('_')))
    };
    let named = parts.iter().filter(names).count();
    let leads = if within { path.starts_with(package(from)) } else { named > 0 };
    leads.then_some(named)
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
    use ReferenceKind::{Call, Type};
    use proptest::prelude::*;

    #[test]
    fn names_are_split_by_what_stands_before_them() {
        for (symbols, expected) in [
            (&["open"][..], ("open", None)),
            (&["Store::open", "a::Store<K, V>::open", "Store::open<T: Into<Path>>"], ("open", Some("Store"))),
            (&["pkg.Door.open", "Door#open", "App\\Door::open"], ("open", Some("Door"))),
            (&["App\\Door"], ("Door", Some("App"))),
            (&["Map<K, V>"], ("Map", None)),
            (&[""], ("", None)),
        ] {
            symbols.iter().for_each(|symbol| assert_eq!(last_parts(symbol), expected, "{symbol}"));
        }

        for (lines, expected) in [
            (&["    open(path)"][..], Before::Nothing),
            (&["let x = Store::open(path)?;"], Before::Path("Store")),
            (&["Vec::<T>::open()"], Before::Path("Vec")),
            (&["self.open()", "$this->open()"], Before::Own),
            (&["self.store.open()", "$store->open()", "store?.open()"], Before::Named("store")),
            (&["    .open()", "stores[0].open()", "make().open()", "super.open()"], Before::Value),
            (&["crate::open()", "super::open()"], Before::Root),
            (&["let open = door.open();"], Before::Named("door")),
            (&["größe.open()"], Before::Named("größe")),
        ] {
            lines.iter().for_each(|line| assert_eq!(before(line, "open"), [expected], "{line}"));
        }
        assert_eq!(before("reopen(open_all)", "open"), []);
        assert_eq!(before("Door::open(self.open())", "open"), [Before::Path("Door"), Before::Own]);
        assert_eq!(before("x", ""), []);

        let mut sorted = EVERYWHERE.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), EVERYWHERE.len());
    }

    fn defined<'a>(symbol: &'a str, kind: &'a str, path: &'a str) -> Defined<'a> {
        Defined { symbol, kind, namespace: "n", path, package: None, language: Some("rust"), is_test: false }
    }

    const SITE: Site<'static> =
        Site { namespace: "n", path: "src/a.rs", language: Some("rust"), owner: Some("Own"), is_test: false };

    fn found(name: &str, kind: ReferenceKind, before: Before<'_>, defined: &[Defined<'_>]) -> Vec<usize> {
        meant(name, kind, before, &SITE, &Imports::default(), defined).map(|meant| meant.positions).unwrap_or_default()
    }

    #[test]
    fn definitions_are_the_nearest_of_their_kind_and_language() {
        let all = ["far/c.rs", "src/b.rs", "src/a.rs"].map(|path| defined("load", "function", path));
        let load = |all: &[Defined]| {
            let meant = meant("load", Call, Before::Nothing, &SITE, &Imports::default(), all);
            meant.map(|meant| (meant.nearness, meant.positions))
        };
        assert_eq!(load(&all), Some((Nearness::File, vec![2])));
        assert_eq!(load(&all[..2]), Some((Nearness::Directory, vec![1])));
        let far = [all[0], defined("load", "function", "other/d.rs")];
        assert_eq!(load(&far), Some((Nearness::Elsewhere, vec![0, 1])));
        let elsewhere = [Defined { namespace: "m", ..all[2] }];
        assert_eq!(load(&elsewhere), Some((Nearness::Elsewhere, vec![0])));

        let all = [
            defined("Door::shut", "method", "src/b.rs"),
            defined("Window::shut", "method", "src/b.rs"),
            defined("Own::shut", "method", "src/a.rs"),
            defined("shut", "function", "src/gate.rs"),
        ];
        assert_eq!(found("shut", Call, Before::Named("Window"), &all), [1]);
        assert_eq!(found("shut", Call, Before::Named("Lid"), &all), [] as [usize; 0], "somebody else's type");
        assert_eq!(found("shut", Call, Before::Path("gate"), &all), [3], "a module");
        assert_eq!(found("shut", Call, Before::Named("gate"), &all), [2], "a variable, in Rust");
        assert_eq!(found("shut", Call, Before::Named("front_door"), &all[..2]), [0, 1], "no type is called so");
        assert_eq!(found("shut", Call, Before::Named("door"), &all), [0], "a variable called like its type");
        assert_eq!(found("shut", Call, Before::Own, &all), [2]);
        assert_eq!(found("shut", Call, Before::Nothing, &all), [3], "no method is called by its bare name");
        assert_eq!(found("shut", Call, Before::Nothing, &all[..3]), [2], "but one's own, in many languages");
        assert_eq!(found("shut", Call, Before::Value, &all[..2]), [0, 1]);

        let far = [defined("Door::shut", "method", "far/c.rs")];
        let guessed = |before| meant("shut", Call, before, &SITE, &Imports::default(), &far).map(|one| one.is_guess);
        assert_eq!([Before::Named("lid"), Before::Value, Before::Own].map(guessed), [Some(true); 3]);
        assert_eq!([Before::Named("door"), Before::Path("Door")].map(guessed), [Some(false); 2]);
        let tested = [Defined { is_test: true, ..far[0] }];
        assert_eq!(found("shut", Call, Before::Named("door"), &tested), [] as [usize; 0], "no test is used");

        let go = Site { path: "sub/use.go", language: Some("go"), ..SITE };
        let of = |package, path| Defined { package, language: Some("go"), ..defined("Feed", "function", path) };
        let feed = |all: &[Defined]| meant("Feed", Call, Before::Named("zoo"), &go, &Imports::default(), all);
        assert_eq!(
            feed(&[of(None, "feed.go"), of(Some("zoo"), "feed.go")]).map(|it| (it.positions, it.is_guess)),
            Some((vec![1], false))
        );
        let python = Site { path: "use.py", language: Some("python"), ..SITE };
        let of = |path| Defined { language: Some("python"), ..defined("dumps", "function", path) };
        let dumps =
            meant("dumps", Call, Before::Named("pkg"), &python, &Imports::default(), &[of("pkg/json/__init__.py")]);
        assert_eq!(dumps.map(|it| it.positions), Some(vec![0]));

        let all = [defined("Queue::push", "method", "src/a.rs"), defined("push", "function", "src/a.rs")];
        assert_eq!(found("push", Call, Before::Value, &all), [] as [usize; 0]);
        assert_eq!(found("push", Call, Before::Named("items"), &all), [] as [usize; 0]);
        assert_eq!(found("push", Call, Before::Named("queue"), &all), [0]);
        assert_eq!(found("push", Call, Before::Named("Queue"), &all), [0]);

        let all = [defined("Door", "type", "src/b.rs"), defined("Door", "function", "src/a.rs")];
        assert_eq!(found("Door", Type, Before::Nothing, &all), [0]);
        let python = [Defined { language: Some("python"), ..all[0] }, Defined { language: None, ..all[0] }];
        assert_eq!(found("Door", Type, Before::Nothing, &python), [] as [usize; 0]);
        let typescript = Site { language: Some("typescript"), ..SITE };
        let javascript = [Defined { language: Some("javascript"), ..all[0] }];
        let related = meant("Door", Type, Before::Nothing, &typescript, &Imports::default(), &javascript);
        assert!(related.is_some());
    }

    fn allows(language: &str, text: &str, name: &str, path: &str) -> bool {
        let defined = Defined { language: Some(language), ..defined(name, "type", path) };
        let path = "crates/tamis/src/a.rs";
        let site = Site { namespace: "n", path, language: Some(language), owner: None, is_test: false };
        let imports = Imports::parse(Some(language), text.lines());
        imports.allow(name, Before::Nothing, &defined, &site, Nearness::Elsewhere).is_some()
    }

    #[test]
    fn an_import_chooses_among_definitions_of_one_name() {
        for (language, text, expected) in [
            ("python", "from shop.cart import total", vec![0]),
            ("python", "from .orders import total", vec![1]),
            ("python", "from shop import total", vec![0, 1]),
            ("typescript", "import { total } from '../shop/orders';", vec![1]),
            ("rust", "use crate::shop::cart::total;", vec![0]),
            ("rust", "use crate::shop::{cart, total};", vec![0]),
            ("python", "def a():\n    from shop.cart import total\ndef b():\n    from shop import total", vec![0, 1]),
        ] {
            let of = |path| Defined { language: Some(language), ..defined("total", "function", path) };
            let all = [of("shop/cart.x"), of("shop/orders.x")];
            let site = Site { path: "web/page.x", language: Some(language), ..SITE };
            let imports = Imports::parse(Some(language), text.lines());
            let meant = meant("total", Call, Before::Nothing, &site, &imports, &all);
            assert_eq!(meant.map(|meant| meant.positions), Some(expected), "{text}");
        }
    }

    #[test]
    fn imports_are_read_in_each_language() {
        let text = "use std::path::{Path, PathBuf};\nuse tamis_store::{\n  Cache, \n  Store, \n};\nuse crate::Error;\n";
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

        let defined = defined("T", "type", "a.rs");
        let site = Site { namespace: "n", path: "b.rs", language: Some("rust"), owner: None, is_test: false };
        let none = Imports::parse(Some("rust"), "".lines());
        let allow = |name, before, nearness| none.allow(name, before, &defined, &site, nearness).is_some();
        assert!(allow("T", Before::Nothing, Nearness::File) && allow("open", Before::Value, Nearness::Elsewhere));
        assert!(allow("open", Before::Named("door"), Nearness::Elsewhere));
        assert!(!allow("open", Before::Path("Door"), Nearness::Elsewhere));
        let known_everywhere = Defined { kind: "macro", ..defined };
        assert!(none.allow("m", Before::Nothing, &known_everywhere, &site, Nearness::Elsewhere).is_some());

        for (language, text, name, expected) in [
            ("python", "from errors import (\n  TimeoutError as Expired,\n  Closed,\n)\n", "Expired", "TimeoutError"),
            ("python", "import numpy.linalg as la\n", "la", "linalg"),
            ("typescript", "import { TimeoutError as Expired } from './errors';\n", "Expired", "TimeoutError"),
            ("typescript", "import * as raised from '../shop/errors';\n", "raised", "errors"),
            ("typescript", "import { default as raised } from './errors';\n", "raised", "raised"),
            ("rust", "use crate::errors::{self as raised, Closed};\n", "raised", "errors"),
            ("rust", "use crate::errors::TimeoutError as Expired;\n", "Expired", "TimeoutError"),
            ("go", "import (\n\t\"fmt\"\n\tconfig \"example.org/app/settings\"\n)\n", "config", "settings"),
            ("go", "import config \"example.org/app/settings\"\n", "config", "settings"),
            ("go", "import (\n\t\"fmt\"\n\t\"os\"\n)\n", "fmt", "fmt"),
            ("rust", "use crate::errors::TimeoutError;\nlet whole = Expired as Other;\n", "Other", "Other"),
        ] {
            assert_eq!(Imports::parse(Some(language), text.lines()).defined_name(name), expected, "{text}");
        }

        assert_eq!(package("crates/tamis/src/related/names.rs"), "crates/tamis/");
        assert_eq!(package("crates/store/tests/store/common.rs"), "crates/store/");
        assert_eq!([package("src/lib.rs"), package("tools/garden.py")], ["", ""]);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(line in "\\PC{0,40}", name in "[a-z<>:.]{0,5}", symbol in "\\PC{0,20}") {
            before(&line, &name);
            last_parts(&symbol);
        }

        #[test]
        fn any_name_is_decided(text in "(use |import |\\PC|\n|[{}();*]){0,40}", name in "[a-z]{1,3}") {
            allows("rust", &text, &name, "src/a.rs");
        }
    }
}
