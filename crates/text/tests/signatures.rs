//! Fingerprints: stable through edits of the body, different for different signatures.

#![cfg(feature = "grammars")]

use tamis_text::{Options, Passage, read};

fn passages(path: &str, text: &str) -> Vec<Passage> {
    read(path, text.as_bytes(), &Options::default()).passages
}

/// The fingerprint of the passage of a symbol.
fn signature(path: &str, text: &str, symbol: &str) -> String {
    let found = passages(path, text).into_iter().find(|passage| passage.symbols().any(|name| name == symbol));
    let found = found.unwrap_or_else(|| panic!("no {symbol} in {path}: {:#?}", passages(path, text)));
    found.signature.unwrap_or_else(|| panic!("no signature of {symbol} in {path}"))
}

/// Path, symbol, a definition, the same with everything but its signature changed, and one with another signature.
const EDITS: &[(&str, &str, &str, &str, &str)] = &[
    (
        "a.rs",
        "open",
        "pub fn open(path: &Path, mode: Mode) -> Result<File> {\n    todo(path)\n}\n",
        "use std::fs;\n\n/// Opens it.\n#[inline]\npub fn open(\n    path: &Path, // where\n    mode: Mode,\n) -> Result<File> {\n    fs::open(path, mode)\n}\n",
        "pub fn open(path: &Path, mode: u32) -> Result<File> {\n    todo(path)\n}\n",
    ),
    (
        "a.rs",
        "LIMIT",
        "const LIMIT: usize = 3;\n",
        "/// How many.\nconst LIMIT: usize = {\n    4\n};\n",
        "const LIMIT: u64 = 3;\n",
    ),
    (
        "a.py",
        "open",
        "def open(path: str, mode=0o644) -> File:\n    return File(path)\n",
        "@cached\ndef open(\n    path: str,\n    mode=0o644,  # as chmod\n) -> File:\n    \"\"\"Opens it.\"\"\"\n    return find(path)\n",
        "def open(path: str, mode=0o600) -> File:\n    return File(path)\n",
    ),
    (
        "a.ts",
        "open",
        "export const open = async (path: string): Promise<File> => {\n  return find(path);\n};\n",
        "/** Opens it. */\nexport const open = async (\n  path: string,\n): Promise<File> => {\n  return await read(path, 1);\n};\n",
        "export const open = async (path: URL): Promise<File> => {\n  return find(path);\n};\n",
    ),
    (
        "a.js",
        "Store",
        "class Store extends Base {\n  a = 1;\n}\n",
        "// Keeps.\n@sealed\nclass Store extends Base {\n  b() {}\n}\n",
        "class Store extends Other {\n  a = 1;\n}\n",
    ),
    (
        "a.go",
        "Store.Open",
        "package a\n\nfunc (s *Store) Open(path string) error {\n\treturn nil\n}\n",
        "package a\n\n// Open opens it.\nfunc (s *Store) Open(\n\tpath string,\n) error {\n\treturn s.open(path)\n}\n",
        "package a\n\nfunc (s *Store) Open(path string, mode int) error {\n\treturn nil\n}\n",
    ),
    (
        "A.java",
        "A.open",
        "class A {\n    File open(String path) throws IOException {\n        return null;\n    }\n}\n",
        "class A {\n    /** Opens it. */\n    @Override\n    @Deprecated\n    File open(String path) throws IOException {\n        return find(path);\n    }\n}\n",
        "class A {\n    File open(Path path) throws IOException {\n        return null;\n    }\n}\n",
    ),
    (
        "a.c",
        "open",
        "static int open(const char *path, int mode)\n{\n    return 0;\n}\n",
        "/* Opens it. */\nstatic int\nopen(const char *path,\n     int mode /* as chmod */)\n{\n    return find(path);\n}\n",
        "static int open(const char *path, long mode)\n{\n    return 0;\n}\n",
    ),
    (
        "a.cpp",
        "Store::Store",
        "Store::Store(int size) : size_(size) {\n}\n",
        "// Makes one.\nStore::Store(int size)\n    : size_(0), other_(size)\n{\n    fill();\n}\n",
        "Store::Store(long size) : size_(size) {\n}\n",
    ),
    (
        "A.cs",
        "A.Open",
        "class A\n{\n    public File Open(string path) => null;\n}\n",
        "class A\n{\n    /// <summary>Opens it.</summary>\n    [Obsolete(\"no\")]\n    public File Open(string path)\n    {\n        return Find(path);\n    }\n}\n",
        "class A\n{\n    public File Open(Uri path) => null;\n}\n",
    ),
    (
        "a.rb",
        "A#open",
        "class A\n  def open(path, mode = 1)\n    nil\n  end\nend\n",
        "class A\n  # Opens it.\n  def open(path,\n           mode = 1)\n    find(path)\n  rescue IOError\n    nil\n  end\nend\n",
        "class A\n  def open(path, mode: 1)\n    nil\n  end\nend\n",
    ),
    (
        "a.php",
        "A::open",
        "<?php\nclass A\n{\n    public function open(string $path): File\n    {\n        return null;\n    }\n}\n",
        "<?php\nclass A\n{\n    /** Opens it. */\n    #[Pure]\n    public function open(\n        string $path,\n    ): File {\n        return $this->find($path);\n    }\n}\n",
        "<?php\nclass A\n{\n    public function open(?string $path): File\n    {\n        return null;\n    }\n}\n",
    ),
    (
        "a.kt",
        "A.open",
        "class A {\n    fun open(path: String): File {\n        return find(path)\n    }\n}\n",
        "class A {\n    /** Opens it. */\n    @Throws(IOException::class)\n    fun open(\n        path: String,\n    ): File = find(path).also { log(it) }\n}\n",
        "class A {\n    fun open(path: Path): File {\n        return find(path)\n    }\n}\n",
    ),
    (
        "a.swift",
        "A.open",
        "class A {\n    func open(_ path: String) throws -> File {\n        return find(path)\n    }\n}\n",
        "class A {\n    /// Opens it.\n    @discardableResult\n    func open(\n        _ path: String\n    ) throws -> File {\n        try read(path)\n    }\n}\n",
        "class A {\n    func open(at path: String) throws -> File {\n        return find(path)\n    }\n}\n",
    ),
    (
        "a.sh", "open", "open() {\n  echo a\n}\n", "# Opens it.\nopen()\n{\n  echo b\n}\n",
        "function open() {\n  echo a\n}\n",
    ),
];

#[test]
fn a_signature_outlives_edits_of_body_comments_attributes_and_layout() {
    for (path, symbol, before, after, other) in EDITS {
        let before = signature(path, before, symbol);
        assert_eq!(before.len(), 16);
        assert_eq!(before, signature(path, after, symbol), "{symbol} in {path}");
        assert_ne!(before, signature(path, other, symbol), "{symbol} in {path}");
    }
}

#[test]
fn overloads_differ() {
    for (path, text) in [
        ("A.java", "class A {\n    void a(int b) {\n    }\n\n    void a(long b) {\n    }\n}\n"),
        ("A.cs", "class A\n{\n    void a(int b)\n    {\n    }\n\n    void a(ref int b)\n    {\n    }\n}\n"),
        ("a.cpp", "void a(int b) {\n}\n\nvoid a(int &b) {\n}\n"),
        ("a.kt", "class A {\n    fun a(b: Int) {\n    }\n\n    fun a(b: Int?) {\n    }\n}\n"),
        ("a.swift", "class A {\n    func a(b: Int) {\n    }\n\n    func a(c: Int) {\n    }\n}\n"),
    ] {
        let overloads: Vec<_> = passages(path, text)
            .into_iter()
            .filter(|passage| passage.symbol.as_deref().is_some_and(|symbol| symbol.ends_with('a')))
            .map(|passage| passage.signature)
            .collect();
        assert_eq!(overloads.len(), 2, "{path}");
        assert_ne!(overloads[0], overloads[1], "{path}");
    }
}

#[test]
fn methods_that_two_traits_ask_of_one_type_differ() {
    let text = "impl Display for A {\n    fn fmt(&self, f: &mut Formatter<'_>) -> Result {\n        one()\n    }\n}\n\nimpl Debug for A {\n    fn fmt(&self, f: &mut Formatter<'_>) -> Result {\n        two()\n    }\n}\n";
    let found = passages("a.rs", text);
    let names: Vec<_> = found.iter().map(|passage| passage.symbol.as_deref()).collect();
    assert_eq!(names, [Some("A::fmt"), Some("A::fmt")]);
    assert_ne!(found[0].signature, found[1].signature);
}

#[test]
fn an_edit_elsewhere_in_the_file_moves_no_signature() {
    let before = passages("a.rs", "fn a() {}\n\nfn b(x: u8) {\n    a();\n}\n");
    let after =
        passages("a.rs", "use c::d;\n\nfn a(x: u8) {\n    d(x)\n}\n\nfn e() {}\n\nfn b(x: u8) {\n    a();\n}\n");
    assert_eq!(before.last().map(|passage| &passage.signature), after.last().map(|passage| &passage.signature));
}

#[test]
fn the_pieces_of_a_long_function_share_its_signature() {
    let body: String = (0..200).map(|number| format!("    step({number}, \"of many\");\n")).collect();
    let found = passages("a.rs", &format!("fn long() {{\n{body}}}\n"));
    assert!(found.len() > 2);
    assert!(found.iter().all(|passage| passage.signature == found[0].signature && passage.signature.is_some()));
}

#[test]
fn what_is_no_symbol_has_no_signature() {
    for (path, text) in [("a.rs", "use a::b;\nuse c::d;\n"), ("a.md", "# A\n\ntext\n"), ("a.toml", "a = 1\n")] {
        assert!(passages(path, text).iter().all(|passage| passage.signature.is_none()), "{path}");
    }
}
