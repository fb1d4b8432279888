//! From a hit onwards: similar passages, what it uses, what uses it, in trees of several languages.

use crate::support::{Tree, assert_says, stop_everywhere};
use tamis::Index;
use tamis::related::{NameReference, Referrer, Related, RelatedBy, RelatedRequest};

const DOOR: &str = "\
use crate::key::Key;

/// A door that a key opens.
pub struct Door {
    locked: bool,
}

impl Door {
    /// Opens the door with a key.
    pub fn unlock(&mut self, key: &Key) -> bool {
        if key.fits() && self.is_locked() {
            self.locked = false;
            creak();
        }
        !self.locked
    }

    fn is_locked(&self) -> bool {
        self.locked
    }
}

fn creak() {
    println!(\"creak\");
}
";

const KEY: &str = "\
/// A key that fits one door.
pub struct Key {
    teeth: Vec<u8>,
}

impl Key {
    /// Whether the teeth are those of the door.
    pub fn fits(&self) -> bool {
        self.teeth.len() == 5
    }
}
";

const HOUSE: &str = "\
use crate::door::Door;
use crate::key::Key;

/// Goes in by the front door.
pub fn enter(door: &mut Door, key: &Key) -> bool {
    door.unlock(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_lets_in() {
        let mut door = Door::default();
        assert!(door.unlock(&Key::default()));
    }
}
";

const WINDOW: &str = "\
/// A window, which a latch opens.
pub struct Window;

impl Window {
    /// Opens the window from inside.
    pub fn unlock(&mut self, latch: u8) -> bool {
        latch > 3
    }
}

/// Airs the room.
pub fn air() -> bool {
    Window.unlock(4) && Window::unlock(&mut Window, 5)
}
";

const PYTHON: &str = "\
from garden import water


class Gardener:
    def morning(self):
        return self.rake() + water(3)

    def rake(self):
        return 1


def unlock(shed):
    return shed
";

const GARDEN: &str = "\
def water(cans):
    \"\"\"Water the beds.\"\"\"
    return cans * 2
";

const GO: &str = "\
package mill

// Grind makes flour of grain.
func Grind(grain int) int {
	return sift(grain) - 1
}

func sift(grain int) int {
	return grain
}
";

const TYPESCRIPT: &str = "\
export class Kettle {
  boil(): number {
    return this.fill() + heat(3);
  }

  fill(): number {
    return 1;
  }
}

export function heat(degrees: number): number {
  return degrees;
}
";

fn tree() -> Tree {
    Tree::new(&[
        ("src/door.rs", DOOR),
        ("src/key.rs", KEY),
        ("src/house.rs", HOUSE),
        ("src/window.rs", WINDOW),
        ("tools/gardener.py", PYTHON),
        ("tools/garden.py", GARDEN),
        ("mill/mill.go", GO),
        ("web/kettle.ts", TYPESCRIPT),
        ("README.md", "# A house\n\nIt has a door with a key, and a window with a latch.\n"),
        ("docs/door.md", "# The door\n\nOpen the door with its key. A key fits one door.\n"),
    ])
}

fn indexed() -> (Tree, Index) {
    let tree = tree();
    let index = tree.indexed(&[]);
    (tree, index)
}

fn related(index: &Index, wanted: &str) -> Related {
    index.related().find(&RelatedRequest::new(wanted), &()).unwrap_or_else(|error| panic!("{wanted}: {error}"))
}

/// Each name with the symbols that it can mean.
fn uses(found: &Related) -> Vec<(&str, Vec<&str>)> {
    fn pair(one: &NameReference) -> (&str, Vec<&str>) {
        (&one.name, one.definitions.iter().map(|passage| passage.symbol.as_deref().unwrap_or("?")).collect())
    }
    found.references.iter().map(pair).collect()
}

/// The users of a passage, with the lines, and the number of definitions that these can mean.
fn users(found: &Related) -> Vec<(&str, &[u32], usize)> {
    fn triple(one: &Referrer) -> (&str, &[u32], usize) {
        (one.passage.symbol.as_deref().unwrap_or("?"), &one.lines, one.definitions)
    }
    found.referenced_by.iter().map(triple).collect()
}

/// The line, counted from 1, on which a text first stands.
fn line(file: &str, text: &str) -> u32 {
    let at = file.find(text).expect("it is there");
    file[..at].matches('\n').count() as u32 + 1
}

#[test]
fn references_are_resolved_by_type_qualifier_and_language() {
    let (_tree, index) = indexed();
    let found = related(&index, &format!("src/door.rs:{}", line(DOOR, "pub fn unlock")));
    assert_eq!(found.passage.symbol.as_deref(), Some("Door::unlock"));
    assert_eq!(
        uses(&found),
        [
            ("Key", vec!["Key"]),
            ("fits", vec!["Key::fits"]),
            ("is_locked", vec!["Door::is_locked"]),
            ("creak", vec!["creak"]),
        ]
    );
    // The window's method of the same name, and the Python function, are others.
    let call = line(HOUSE, "door.unlock(key)");
    let test = line(HOUSE, "assert!");
    assert_eq!(users(&found), [("enter", &[call][..], 1), ("tests::a_key_lets_in", &[test][..], 1)]);
    assert_eq!(found.referenced_by[0].passage.path, "src/house.rs");
    assert!(found.similar.iter().all(|one| one.passage.id != found.passage.id));

    let found = related(&index, &format!("src/key.rs:{}", line(KEY, "pub struct Key")));
    let users: Vec<&str> = users(&found).iter().map(|(symbol, ..)| *symbol).collect();
    assert!(users.contains(&"Door::unlock") && users.contains(&"enter"), "{users:?}");
    assert!(users.last().is_some_and(|last| last.starts_with("tests::")), "tests come last: {users:?}");

    let window = related(&index, &format!("src/window.rs:{}", line(WINDOW, "pub fn unlock")));
    let call = line(WINDOW, "Window.unlock(4)");
    assert_eq!(self::users(&window), [("air", &[call][..], 1)]);
    let air = related(&index, &format!("src/window.rs:{call}"));
    assert_eq!(uses(&air), [("unlock", vec!["Window::unlock"]), ("Window", vec!["Window"])]);

    let morning = related(&index, &format!("tools/gardener.py:{}", line(PYTHON, "def morning")));
    assert_eq!(uses(&morning), [("rake", vec!["Gardener.rake"]), ("water", vec!["water"])]);
    let water = related(&index, "tools/garden.py:1");
    assert_eq!(self::users(&water), [("Gardener.morning", &[line(PYTHON, "water(3)")][..], 1)]);
    let grind = related(&index, &format!("mill/mill.go:{}", line(GO, "func Grind")));
    assert_eq!(uses(&grind), [("sift", vec!["sift"])]);
    let boil = related(&index, &format!("web/kettle.ts:{}", line(TYPESCRIPT, "boil()")));
    assert_eq!(uses(&boil), [("fill", vec!["Kettle.fill"]), ("heat", vec!["heat"])]);
    let python = related(&index, &format!("tools/gardener.py:{}", line(PYTHON, "def unlock")));
    assert_eq!(self::users(&python), [], "what is called so in Rust is something else");

    let found = related(&index, "docs/door.md:3");
    assert!(found.references.is_empty() && found.referenced_by.is_empty());
    assert_eq!(found.model.as_deref(), Some("static-256-v2"));
    let cut = found.cut.as_ref().expect("vectors were compared");
    assert!(cut.keep >= found.similar.len() && !found.similar.is_empty(), "{cut:?}");
    assert!(found.similar.is_sorted_by(|a, b| a.similarity >= b.similarity) || found.similar.len() == 1);
}

#[test]
fn one_side_can_be_asked_for_shortened_and_stopped() {
    let (_tree, index) = indexed();
    let wanted = format!("src/door.rs:{}", line(DOOR, "pub fn unlock"));
    let by = |by, limit| {
        index.related().find(&RelatedRequest { by, limit, ..RelatedRequest::new(&wanted) }, &()).expect("found")
    };
    let vector = by(Some(RelatedBy::Vector), None);
    assert!(vector.references.is_empty() && vector.referenced_by.is_empty() && vector.cut.is_some());
    let reference = by(Some(RelatedBy::Reference), None);
    assert!(reference.similar.is_empty() && reference.cut.is_none() && reference.model.is_none());
    let short = by(Some(RelatedBy::Reference), Some(1));
    assert_eq!((short.references.len(), short.referenced_by.len()), (1, 1));
    assert!(short.notes.iter().any(|note| note == "not shown: 3 more of the names it uses"), "{:?}", short.notes);
    assert!(short.notes.iter().any(|note| note == "not shown: 4 more uses of it"), "{:?}", short.notes);
    // Of every line with the name, those beyond the resolved uses are marked.
    let counts = reference.occurrences.expect("references alone are counted");
    assert_eq!(counts.lines, counts.own_lines + counts.resolved_lines + counts.unresolved_lines);
    let marked: usize = reference.referenced_by.iter().filter(|one| !one.resolved).map(|one| one.lines.len()).sum();
    assert_eq!(marked as u64, counts.unresolved_lines);
    assert!(counts.unresolved_lines > 0 && vector.occurrences.is_none());
    for limit in [0, 1001] {
        let refused = index.related().find(&RelatedRequest { limit: Some(limit), ..RelatedRequest::new(&wanted) }, &());
        assert!(refused.is_err_and(|error| error.to_string().contains("1 to 1000")));
    }

    let wanted = format!("src/door.rs:{}", line(DOOR, "pub fn unlock"));
    let request = RelatedRequest { by: Some(RelatedBy::Reference), ..RelatedRequest::new(wanted) };
    let places = stop_everywhere(|observer| index.related().find(&request, observer));
    assert!(places > related(&index, &request.id).referenced_by.len(), "{places}");
}

#[test]
fn names_with_several_definitions_are_told_to_be_so_and_common_ones_are_left_out() {
    let mut files = vec![(
        "src/main.rs".to_owned(),
        "pub fn start(thing: &mut dyn Any) {\n    thing().ignite();\n    thing().launch();\n}\n".to_owned(),
    )];
    for number in 0..8 {
        let launch = if number < 2 { "    pub fn launch(&self) -> u8 {\n        9\n    }\n" } else { "" };
        files.push((
            format!("part{number}/engine.rs"),
            format!("pub struct Engine{number};\n\nimpl Engine{number} {{\n    pub fn ignite(&self) -> u8 {{\n        {number}\n    }}\n{launch}}}\n"),
        ));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    let index = tree.indexed(&[]);
    let found = related(&index, "src/main.rs:1");
    assert_eq!(uses(&found), [("launch", vec!["Engine0::launch", "Engine1::launch"])]);
    assert!(found.notes.iter().any(|note| note == "names with too many definitions: ignite (8)"), "{:?}", found.notes);
    let launch = related(&index, "part1/engine.rs:7");
    assert_eq!(launch.passage.symbol.as_deref(), Some("Engine1::launch"));
    assert_eq!(users(&launch), [("start", &[3][..], 2)], "perhaps");
    let ignite = related(&index, "part1/engine.rs:4");
    assert_eq!(users(&ignite), []);
    assert!(ignite.notes.iter().any(|note| note.contains("too many definitions")), "{:?}", ignite.notes);
}

#[test]
fn files_with_a_part_of_the_name_do_not_hold_it() {
    let mut files =
        vec![("src/hooks.rs".to_owned(), "pub fn run_hook() {}\n\npub fn all() {\n    run_hook();\n}\n".to_owned())];
    files.extend(
        (0..220).map(|number| (format!("src/hook{number}.rs"), format!("pub fn hook{number}() {{\n    hook();\n}}\n"))),
    );
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    let found = related(&tree.indexed(&[]), "src/hooks.rs:1");
    assert_eq!(users(&found), [("all", &[4][..], 1)]);
    assert_eq!(found.notes, Vec::<String>::new());
}

#[test]
fn a_request_names_a_passage_that_may_be_read() {
    let (_tree, index) = indexed();
    let by_line = related(&index, "src/door.rs:10");
    let by_id = related(&index, &by_line.passage.id);
    assert_eq!(by_id.passage, by_line.passage);
    assert_eq!(related(&index, &by_line.passage.id[..8]).passage, by_line.passage);
    assert_says(
        index.related().find(&RelatedRequest::new("src/door.rs"), &()).expect_err("which?"),
        &["src/door.rs:LINE"],
    );
    assert!(index.related().find(&RelatedRequest::new("src/nothing.rs:3"), &()).is_err());
    assert!(index.related().find(&RelatedRequest::new("src/door.rs:4000"), &()).is_err());

    let own = index.namespace().to_owned();
    let ask = |wanted: &str, allowed: &str| {
        index.related().find(
            &RelatedRequest { allowed_namespaces: Some(vec![allowed.into()]), ..RelatedRequest::new(wanted) },
            &(),
        )
    };
    let id = related(&index, "src/door.rs:10").passage.id;
    assert!(ask(&id, &own).is_ok());
    let hidden = ask(&id, "another").expect_err("not readable").to_string();
    let absent = ask("0123456789ab", "another").expect_err("not there").to_string();
    assert_eq!(hidden.replace(&id, ""), absent.replace("0123456789ab", ""));
    assert!(ask("src/door.rs:10", "another").is_err());
}

const BUILDER: &str = "\
package sieve

type Sieve struct{ alpha, beta int }

func New() *Sieve { return &Sieve{} }

// WithAlpha sets alpha.
func (s *Sieve) WithAlpha(alpha int) *Sieve { s.alpha = alpha; return s }

// WithBeta sets beta.
func (s *Sieve) WithBeta(beta int) *Sieve { s.beta = beta; return s }
";

const CHAINS: &str = "\
package sieve

func Fine() *Sieve {
\treturn New(). // The first one.
\t\tWithAlpha(1).

\t\t// It ends here.
\t\tWithBeta(2)
}

func Coarse() int {
\t// It is nothing special.
\tWithBeta(2)
\treturn 3
}
";

#[test]
fn a_chain_of_calls_over_lines_is_followed() {
    let tree = Tree::new(&[("sieve.go", BUILDER), ("chains.go", CHAINS)]);
    let index = tree.indexed(&[("index.models", "static")]);
    for (line, name, at) in [(8, "WithAlpha", 5), (11, "WithBeta", 8)] {
        let request = RelatedRequest::new(format!("sieve.go:{line}"));
        let found = index.related().find(&request, &()).expect("found");
        let users: Vec<(&str, &[u32])> = found
            .referenced_by
            .iter()
            .map(|user| (user.passage.symbol.as_deref().unwrap_or(""), &user.lines[..]))
            .collect();
        assert_eq!(users, [("Fine", &[at][..])], "{name}");
    }
    let used = index.related().find(&RelatedRequest::new("chains.go:3"), &()).expect("found");
    let names: Vec<&str> = used.references.iter().map(|one| one.name.as_str()).collect();
    for name in ["New", "WithAlpha", "WithBeta"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let reason = used.cut.map(|cut| cut.reason).unwrap_or_default();
    assert!(!reason.contains("nothing else"), "{reason}");
}
