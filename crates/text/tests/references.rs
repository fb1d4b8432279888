//! References and definitions of a text, a language at a time.

#![cfg(feature = "grammars")]

use proptest::prelude::*;
use tamis_text::{LANGUAGES, Reference, ReferenceKind, definitions, references};

/// `line:kind:name` of each, the kind by its first letter.
fn told(references: &[Reference]) -> String {
    let each = references.iter().map(|found| format!("{}:{}:{}", found.line, &found.kind.as_str()[..1], found.name));
    each.collect::<Vec<_>>().join(" ")
}

/// Language, text, references.
const CASES: &[(&str, &str, &str)] = &[
    (
        "rust",
        "#[derive(Debug)]\nstruct Shelf(Vec<Book>);\nimpl fmt::Display for Shelf {\n  fn a(&self) { Book::open::<u8>(1); b(c.d()); e!(f(2), g) }\n}\n",
        "1:i:Debug 2:t:Vec 2:t:Book 3:i:Display 3:t:Shelf 4:t:Book 4:c:open 4:c:b 4:c:d 4:c:e 4:c:f",
    ),
    (
        "python",
        "@cached\ndef a(b: Book, c: list[Shelf] | None) -> x.Title:\n    return d(e.f(b))\nclass G(Base, y.Other): ...\n",
        "1:c:cached 2:t:Book 2:t:list 2:t:Shelf 2:t:Title 3:c:d 3:c:f 4:i:Base 4:i:Other",
    ),
    (
        "typescript",
        "class A extends Base<T> implements Shape {\n  b: Book = c(new Shelf());\n  @logged d() { e.f(Color.Red); }\n}\n",
        "1:i:Base 1:t:T 1:i:Shape 2:t:Book 2:c:c 2:c:Shelf 3:c:logged 3:c:f 3:t:Color",
    ),
    ("tsx", "const A: FC<Props> = () => <List items={b()}><p>x</p></List>;\n", "1:t:FC 1:t:Props 1:c:List 1:c:b"),
    ("javascript", "class A extends Base {\n  b() { return new Map(c.d(e())); }\n}\n", "1:i:Base 2:c:Map 2:c:d 2:c:e"),
    ("jsx", "const A = () => <Card.x>{b()}<Item /></Card.x>;\n", "1:t:Card 1:c:b 1:c:Item"),
    (
        "go",
        "package a\n\ntype Shelf struct {\n\tsync.Mutex\n\tbooks []Book\n}\n\nfunc (s *Shelf) Add(b Book) { s.put(b); fmt.Println(len(s.books)) }\n",
        "4:i:Mutex 5:t:Book 8:t:Shelf 8:t:Book 8:c:put 8:c:Println 8:c:len",
    ),
    (
        "java",
        "class A extends Base<T> implements Shape {\n  @Override\n  Book b(Shelf c) { return d(new Page<X>(), Other.e(c::f)); }\n}\n",
        "1:i:Base 1:t:T 1:i:Shape 2:t:Override 3:t:Book 3:t:Shelf 3:c:d 3:c:Page 3:t:X 3:t:Other 3:c:e 3:c:f",
    ),
    (
        "c",
        "struct shelf { book_t *books; };\nint a(struct shelf *s) { return b(s->c(1)); }\n",
        "1:t:book_t 2:t:shelf 2:c:b 2:c:c",
    ),
    (
        "cpp",
        "class A : public Base<T> {\n  Book b() { return ns::c<int>(new Page(1), d.e(), Shelf::f()); }\n};\n",
        "1:i:Base 1:t:T 2:t:Book 2:c:c 2:c:Page 2:c:e 2:t:Shelf 2:c:f",
    ),
    (
        "csharp",
        "[Serializable]\nclass A : Base<T>, IShape {\n  Task<Book> B(Shelf c) => D(new Page(), c?.E<int>(), Other.F());\n}\n",
        "1:t:Serializable 2:i:Base 2:t:T 2:i:IShape 3:t:Task 3:t:Book 3:t:Shelf 3:c:D 3:c:Page 3:c:E 3:t:Other 3:c:F",
    ),
    (
        "ruby",
        "class A < X::Base\n  include Shape\n  def b\n    c\n    d(Page.new, e.f?)\n  end\nend\n",
        "1:t:X 1:i:Base 2:c:include 2:i:Shape 4:c:c 5:c:d 5:t:Page 5:c:new 5:c:f?",
    ),
    (
        "php",
        "<?php\n#[Entity]\nclass A extends Base implements Shape {\n  use Mixin;\n  function b(?Book $c): x\\Page { return d(new Shelf(), $c->e(), Other::f(), $g()); }\n}\n",
        "2:t:Entity 3:i:Base 3:i:Shape 4:i:Mixin 5:t:Book 5:t:Page 5:c:d 5:c:Shelf 5:c:e 5:t:Other 5:c:f",
    ),
    (
        "kotlin",
        "@Serializable\nclass A(val b: Book) : Base<T>(), Shape {\n  fun c(d: Shelf?): Page = e(d?.f(), Other.g { h(it) })\n}\n",
        "1:t:Serializable 2:t:Book 2:i:Base 2:t:T 2:i:Shape 3:t:Shelf 3:t:Page 3:c:e 3:c:f 3:t:Other 3:c:g 3:c:h",
    ),
    (
        "swift",
        "class A: Base, Shape {\n  @Published var b: Book?\n  func c(_ d: Shelf) -> [Page] { e(Other.f(), d.g { h($0) }) }\n}\n",
        "1:i:Base 1:i:Shape 2:t:Published 2:t:Book 3:t:Shelf 3:t:Page 3:c:e 3:t:Other 3:c:f 3:c:g 3:c:h",
    ),
    ("shell", "a() {\n  b \"$(c x)\" | d\n}\na\n", "2:c:b 2:c:c 2:c:d 4:c:a"),
    (
        "scala",
        "class A(b: Book) extends Base[T] with Shape {\n  def c(d: Shelf): Page = e(d.f(1), new Other[X], g.h)\n}\n",
        "1:t:Book 1:i:Base 1:t:T 1:i:Shape 2:t:Shelf 2:t:Page 2:c:e 2:c:f 2:c:Other 2:t:X 2:c:h",
    ),
    (
        "haskell",
        "data Shelf = Shelf [Book] deriving (Eq, Show)\ninstance Located Shelf where\n  room s = open (M.find s) `seq` other\nf :: Shelf -> Page\nf x | x <+> y = g\n",
        "1:t:Book 1:i:Eq 1:i:Show 2:i:Located 2:t:Shelf 3:c:open 3:c:find 3:c:s 3:c:seq 3:c:other 4:t:Shelf 4:t:Page 5:c:x 5:c:y 5:c:g",
    ),
    (
        "elixir",
        "defmodule A.B do\n  use Base\n  @limit 4\n  @doc \"x\"\n  def c(%Book{} = d) when is_map(d), do: e(d) |> F.g() |> h\n  defp i, do: j(self())\nend\n",
        "2:i:Base 5:t:Book 5:c:is_map 5:c:e 5:t:F 5:c:g 5:c:h 6:c:j 6:c:self",
    ),
    ("lua", "local A = {}\nfunction A:b(c)\n  return d(c.e(1), self:f())\nend\n", "3:c:d 3:c:e 3:c:f"),
    (
        "zig",
        "const A = struct {\n    b: Book,\n    fn c(self: *A, d: []const Shelf) !Page {\n        return e(Other.f(d), .{});\n    }\n};\n",
        "2:t:Book 3:t:A 3:t:Shelf 3:t:Page 4:c:e 4:t:Other 4:c:f",
    ),
    (
        "sql",
        "CREATE VIEW a AS SELECT b(c.d) FROM shop.books c JOIN loans l ON l.e = c.e;\nINSERT INTO logs (x) VALUES (now());\n",
        "1:c:b 1:t:books 1:t:loans 2:t:logs 2:c:now",
    ),
    (
        "hcl",
        "resource \"a\" \"b\" {\n  c = upper(\"${var.d}-x\")\n  e = [data.f.g.id, aws_subnet.h.id, module.i.j, each.value]\n}\n",
        "2:c:upper 2:t:d 3:t:g 3:t:h 3:t:i",
    ),
    (
        "protobuf",
        "message A { Book b = 1; map<string, x.Shelf> c = 2; }\nservice D { rpc E(A) returns (stream Page); }\n",
        "1:t:Book 1:t:Shelf 2:t:A 2:t:Page",
    ),
    (
        "vue",
        "<template><p>{{ no() }}</p></template>\n<script setup lang=\"ts\">\nconst a: Book = b(new Shelf());\n</script>\n",
        "3:t:Book 3:c:b 3:c:Shelf",
    ),
    ("svelte", "<p>{no()}</p>\n<script>\n  $: a = b(c.d());\n</script>\n", "3:c:b 3:c:d"),
];

#[test]
fn each_language_tells_its_calls_types_and_implementations() {
    let found: Vec<_> =
        CASES.iter().map(|(language, text, _)| (*language, told(&references(language, text)))).collect();
    let expected: Vec<_> = CASES.iter().map(|(language, _, expected)| (*language, (*expected).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_language_with_symbols_has_references() {
    // Messages and services only name each other.
    let callers = |language: &&tamis_text::Language| language.has_symbols() && language.name != "protobuf";
    for language in LANGUAGES.iter().filter(callers) {
        let case = CASES.iter().find(|(name, ..)| *name == language.name);
        let (_, text, _) = case.unwrap_or_else(|| panic!("no case for {}", language.name));
        let kinds: Vec<_> = references(language.name, text).iter().map(|found| found.kind).collect();
        assert!(kinds.contains(&ReferenceKind::Call), "{}", language.name);
    }
}

#[test]
fn a_name_is_found_once_a_line_by_what_says_most() {
    assert_eq!(told(&references("rust", "fn a(b: Book) -> Book { Book(c(1), c(2)) }\n")), "1:c:Book 1:c:c");
}

#[test]
fn errors_cost_only_what_they_touch() {
    let text = "fn a() { b(); }\n\nfn broken( {\n\nfn c() { d(); }\n";
    let names: Vec<_> = references("rust", text).into_iter().map(|found| found.name).collect();
    assert!(names.contains(&"b".to_owned()) && names.contains(&"d".to_owned()), "{names:?}");
    // A file assembled from its passages can lack a part.
    assert_eq!(told(&references("java", "    void a() {\n        b();\n    }\n}\n")), "2:c:b");
}

#[test]
fn a_path_or_a_language_says_how_to_read() {
    let text = "class A : public B { void c() { d(); } };\n";
    for name in ["a.hpp", "src/a.h", "cpp", "C++", ".cc"] {
        assert_eq!(told(&references(name, text)), "1:i:B 1:c:d", "{name}");
    }
    assert_eq!(told(&references("bin/run", "#!/bin/sh\nstart now\n")), "2:c:start");
    for name in ["a.md", "toml", "unheard_of", ""] {
        assert_eq!(references(name, text), [], "{name}");
        assert_eq!(definitions(name, text), [], "{name}");
    }
}

#[test]
fn definitions_have_qualified_names_and_their_lines() {
    let text = "mod a {\n    /// Keeps.\n    pub struct B(u8);\n\n    impl B {\n        fn c(&self) {\n            d();\n        }\n    }\n}\n\nconst E: u8 = 1;\n";
    let found = definitions("rust", text);
    let told: Vec<_> =
        found.iter().map(|found| format!("{}-{} {} {}", found.line, found.end_line, found.kind, found.name)).collect();
    assert_eq!(told, ["1-10 module a", "3-3 type a::B", "6-8 method a::B::c", "12-12 constant E"]);
}

/// Pieces of many languages that nest, break off and collide when strung together.
fn source() -> impl Strategy<Value = String> {
    let pieces = [
        "class A", " : B", "{", "}", "(", ")", "<T>", "fn a", "def b", "func c", "end\n", "\n", "::", ".d", "new ",
        "=", ";", "@e ", "#f\n", "\"", "'", "impl G for H ", "<?php ", "if i ", "struct J ", "\u{e9}", "[", "]", "->",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_text_names_are_of_it_in_order_and_once_a_line(text in source()) {
        for (language, ..) in CASES {
            let found = references(language, &text);
            let lines: Vec<&str> = text.lines().collect();
            for pair in found.windows(2) {
                prop_assert!(pair[0].line <= pair[1].line);
            }
            for (index, reference) in found.iter().enumerate() {
                let line = lines.get(reference.line as usize - 1);
                prop_assert!(line.is_some_and(|line| line.contains(&reference.name)), "{language}: {reference:?}");
                let twice = found[..index].iter().any(|other| (&other.name, other.line) == (&reference.name, reference.line));
                prop_assert!(!twice, "{language}: {reference:?}");
            }
            prop_assert_eq!(&found, &references(language, &text));
            for definition in definitions(language, &text) {
                prop_assert!(definition.line <= definition.end_line && definition.end_line as usize <= lines.len());
            }
        }
    }
}
