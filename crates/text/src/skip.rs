//! Files to leave out of an index, and the reasons.

use crate::Language;
use crate::decode::has_byte_order_mark;
use crate::document::named;
use crate::embedded_data::without_data;
use crate::languages::Category;
use crate::large_text::is_read_in_parts;
use crate::lines::{contains, extension, file_name, has_end, has_word};
use crate::read::{is_document, is_lfs_pointer};
use crate::secret_files::{is_cluster_secret, is_secret};

named! {
    /// Reason for leaving out a file.
    Skip is a "reason to skip" {
        /// Not text: an image, an archive, an object file.
        Binary = "binary",
        /// Larger than the limit.
        TooLarge = "too_large",
        /// A lock file: exact versions of dependencies, written by a package manager.
        Lock = "lock",
        /// Program text or markup without line breaks, made for machines; source maps.
        Minified = "minified",
        /// Written by a program, as its text or its name says.
        Generated = "generated",
        /// Holds or may hold keys, passwords or tokens.
        Secret = "secret",
        /// Only white space.
        Empty = "empty",
        /// Tables and dumps too large to be read by people.
        Data = "data",
        /// A document that cannot be opened without a password.
        Encrypted = "encrypted",
        /// A document of pictures, such as a scan.
        NoText = "no_text",
        /// A document whose file is not complete or not what its name says.
        Damaged = "damaged",
        /// A document whose text took too long to find.
        TooMuchWork = "too_much_work",
        /// What Git keeps in place of a large file that has not been fetched; `git lfs pull` fetches it.
        LfsPointer = "lfs_pointer",
    }
}

/// Sizes above which a file is left out, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// For any file but a document. Texts for people, tables, logs and SQL may have 32 times as much ([`most_bytes`]).
    pub max_bytes: u64,
    /// For a document ([`crate::is_document`]), whose text is a small part of it.
    pub max_document_bytes: u64,
    /// For files with endings of dumps that are text as often as not.
    pub max_table_bytes: u64,
    /// For configuration and documents in JSON, XML and the like.
    pub max_data_bytes: u64,
}

impl Default for Limits {
    /// 1 MiB for any file, 32 MiB for a document, 64 KiB for a dump, 256 KiB for data.
    fn default() -> Self {
        Self { max_bytes: 1 << 20, max_document_bytes: 32 << 20, max_table_bytes: 64 << 10, max_data_bytes: 256 << 10 }
    }
}

// Decides by a file's name and size if it is left out, without opening it.

const LOCK_NAMES: &str = "\
    package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum go.work.sum bun.lockb pdm.lock mix.lock \
    packages.lock.json project.assets.json podfile.lock module.bazel.lock cabal.project.freeze deno.lock \
    .terraform.lock.hcl gradle.lockfile buildscript-gradle.lockfile conda-lock.yml package.resolved yarn.lock \
    .pnp.cjs .pnp.loader.mjs lock.mdb";

const BINARY_EXTENSIONS: &str = concat!(
    // pictures and fonts
    "png jpg jpeg jpe gif bmp ico icns webp avif heic heif tif tiff psd xcf svg svgz eps ai sketch dds ktx hdr exr \
     tga ttf otf woff woff2 eot ttc ",
    // sound and film
    "mp3 mp4 m4a m4v wav flac ogg oga ogv opus aac avi mov mkv webm wmv mid ",
    // archives and packages
    "zip gz tgz bz2 tbz2 xz txz zst lz4 lzma 7z rar tar jar war ear whl egg gem crate nupkg deb rpm apk ipa dmg iso \
     img msi cab vsix xpi ",
    // programs and what compilers leave
    "exe dll so dylib a o pdb class pyc pyo pyd wasm elc beam rlib rmeta ilk dex bin ko hex elf uf2 gch pch d8 ",
    // documents that are not text
    "pdf doc docx xls xlsx ppt pptx odt ods odp epub mobi djvu ps ",
    // databases, models and arrays
    "db sqlite sqlite3 db3 mdb accdb rdb parquet arrow feather avro orc npy npz h5 hdf5 pkl pickle joblib pt pth \
     ckpt onnx safetensors gguf ggml tflite mat rds rdata dbf shp shx mmdb tfrecord lmdb qm glb gltf fbx blend 3ds \
     pcap pcapng swf uasset der cer crt"
);

/// Endings of tables and dumps that are text as often as not. The content decides, and few of them are for people.
const DUMPS: &str = "dat dump idx obj pack raw stl unity";

/// Endings of file names that well-known generators write.
const GENERATED_ENDS: &str = concat!(
    // protocol buffers and their like
    ".pb.go .pb.gw.go _pb2.py _pb2.pyi _pb2_grpc.py _pb2_grpc.pyi _pb.js _pb.d.ts _pb.ts .pb.ts .pb.h .pb.cc \
     .pb-c.h .pb-c.c _pb.rb _services_pb.rb .pb.swift .grpc.swift .pb.dart .pbenum.dart .pbjson.dart .pbserver.dart \
     .pbgrpc.dart ",
    // builders of Dart, designers and source generators of .NET
    ".g.dart .freezed.dart .gr.dart .mocks.dart .designer.cs .designer.vb .g.cs .g.i.cs ",
    // parsers
    ".tab.c .tab.h .yy.c"
);
const GENERATED_STARTS: &[&str] = &["zz_generated.", "moc_", "qrc_"];

/// Returns `true` if only generators write files of this name, in lowercase.
pub fn is_generated_name(name: &str) -> bool {
    has_end(name, GENERATED_ENDS)
        || GENERATED_STARTS.iter().any(|start| name.starts_with(start))
        || name.contains(".generated.")
}

/// Returns `true` if a file name, in lowercase, is that of minified program text.
pub fn is_minified_name(name: &str) -> bool {
    const ENDS: &str = ".js.map .mjs.map .cjs.map .ts.map .css.map .min.js .min.css .min.mjs -min.js .bundle.js";
    has_end(name, ENDS)
}

/// The reason for leaving out the file at `path` (relative, with forward slashes) of `size` bytes, by its name and size.
///
/// Files known to hold secrets come first, since they are never read, whatever else they are.
///
/// ```
/// use tamis_text::{Limits, Skip, skip_by_path};
/// let skip = |path| skip_by_path(path, 100, &Limits::default());
/// assert_eq!(skip("deploy/.env.production"), Some(Skip::Secret));
/// assert_eq!(skip(".env.example"), None);
/// assert_eq!(skip("Cargo.lock"), Some(Skip::Lock));
/// assert_eq!(skip("src/lib.rs"), None);
/// ```
#[must_use]
pub fn skip_by_path(path: &str, size: u64, limits: &Limits) -> Option<Skip> {
    let name = file_name(path).to_ascii_lowercase();
    let extension = &*extension(&name);
    if is_secret(path) {
        return Some(Skip::Secret);
    }
    if has_word(LOCK_NAMES, &name) || extension == "lock" || extension == "lockb" {
        return Some(Skip::Lock);
    }
    if is_document(path) {
        return match size {
            0 => Some(Skip::Empty),
            size if size > limits.max_document_bytes => Some(Skip::TooLarge),
            _ => None,
        };
    }
    // `libz.so.1.2` carries its version after the extension.
    if has_word(BINARY_EXTENSIONS, extension) || name.contains(".so.") {
        return Some(Skip::Binary);
    }
    if is_minified_name(&name) {
        return Some(Skip::Minified);
    }
    let language = Language::detect(path, "");
    // What people read has no names that generators give.
    if is_generated_name(&name) && language.is_none_or(|language| language.category != Category::Prose) {
        return Some(Skip::Generated);
    }
    if size == 0 {
        return Some(Skip::Empty);
    }
    if size > most_bytes(path, limits) {
        return Some(Skip::TooLarge);
    }
    if has_word(DUMPS, extension) && size > limits.max_table_bytes {
        return Some(Skip::Data);
    }
    let language = language?;
    let is_data = language.category == Category::Data && !is_read_in_parts(Some(language));
    (is_data && size > limits.max_data_bytes).then_some(Skip::Data)
}

/// The size in bytes up to which a file is read: of texts for people, tables, logs and SQL it is 32 times that of other files,
/// since the parts that tell most are enough.
#[must_use]
pub fn most_bytes(path: &str, limits: &Limits) -> u64 {
    match () {
        () if is_document(path) => limits.max_document_bytes,
        () if is_read_in_parts(Language::detect(path, "")) => limits.max_bytes.saturating_mul(LARGER),
        () => limits.max_bytes,
    }
}

/// How much larger a text may be of which parts are read.
const LARGER: u64 = 32;

// Decides by a file's content if it is left out.

/// Bytes searched for a NUL byte, as many as Git searches.
const BINARY_HEAD: usize = 8 << 10;
/// A text has fewer than one control in so many bytes.
const CONTROLS: usize = 16;
/// Bytes in which a file's header may say that it is generated.
const HEADER_BYTES: usize = 4 << 10;
const HEADER_LINES: usize = 24;
/// The most lines between the notice that a file is generated and the notice not to edit it.
const NOTICE_LINES: usize = 3;
/// Mean bytes a line above which program text was not written by a person.
const MINIFIED_MEAN: usize = 400;
/// Program text with a line longer than this was not written by a person.
const MINIFIED_LINE: usize = 2_000;
/// Program text has at least one mark of syntax in so many bytes; a picture or a table written as a string has fewer.
const BYTES_A_MARK: usize = 40;
/// Prose has at most one sign of syntax in so many bytes, and at least one space in so many.
const BYTES_A_SIGN: usize = 12;
const BYTES_A_SPACE: usize = 12;
/// Below this size a single long line is a small configuration file.
const MINIFIED_BYTES: usize = 4 << 10;

/// The reason for leaving out the file at `path`, by its content. Pass the whole file: minified text may begin
/// anywhere.
///
/// ```
/// use tamis_text::{Skip, skip_by_content};
/// assert_eq!(skip_by_content("a.rs", b"// @generated by a tool\nfn main() {}"), Some(Skip::Generated));
/// assert_eq!(skip_by_content("a.rs", b"fn main() {}"), None);
/// ```
#[must_use]
pub fn skip_by_content(path: &str, bytes: &[u8]) -> Option<Skip> {
    let head = &bytes[..bytes.len().min(BINARY_HEAD)];
    if holds_binary(head) && !has_byte_order_mark(bytes) {
        return Some(Skip::Binary);
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Some(Skip::Empty);
    }
    if is_lfs_pointer(bytes) {
        return Some(Skip::LfsPointer);
    }
    if is_private_key(head) {
        return Some(Skip::Secret);
    }
    if has_word("yaml yml json", &extension(path)) && is_cluster_secret(bytes) {
        return Some(Skip::Secret);
    }
    let category = Language::detect(path, "").map_or(Category::Code, |language| language.category);
    if category == Category::Prose {
        return None;
    }
    // A picture written into a text makes long lines too.
    if is_minified(bytes) && is_minified(without_data(String::from_utf8_lossy(bytes)).as_bytes()) {
        return Some(Skip::Minified);
    }
    is_generated(bytes).then_some(Skip::Generated)
}

/// Returns `true` if the first bytes are not those of a text: it has no NUL byte, and few other controls.
fn holds_binary(head: &[u8]) -> bool {
    let is_control = |byte: &&u8| **byte < 32 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 8 | 12 | 27);
    head.contains(&0) || head.iter().filter(is_control).count() * CONTROLS > head.len()
}

/// Returns `true` if the file is a PEM private key, with the header as its first line rather than as a quotation
/// further down.
fn is_private_key(head: &[u8]) -> bool {
    let Some(line) = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()) else {
        return false;
    };
    let line = line.trim_ascii();
    line.starts_with(b"-----BEGIN ") && contains(line, b"PRIVATE KEY")
        || line.starts_with(b"PuTTY-User-Key-File")
        || line.starts_with(b"openssh-key-v1")
}

/// Returns `true` if the lines are too long for a person's: those of the head on average, or so many of all that they
/// are more than half of the file. Long paragraphs are a person's.
pub fn is_minified(bytes: &[u8]) -> bool {
    if bytes.len() < MINIFIED_BYTES {
        return false;
    }
    let head = &bytes[..bytes.len().min(64 << 10)];
    let lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count().max(1);
    let is_long = head.len() / lines > MINIFIED_MEAN;
    let size = |lines: &mut dyn Iterator<Item = &[u8]>| lines.map(<[u8]>::len).sum::<usize>();
    let mut written_by_nobody =
        head.split(|byte| *byte == b'\n').filter(|line| line.len() > MINIFIED_MEAN && !is_prose(line));
    if is_long && 2 * size(&mut written_by_nobody) > head.len() {
        return true;
    }
    let mut long = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| line.len() > MINIFIED_LINE && is_program_text(line) && !is_prose(line));
    2 * size(&mut long) > bytes.len()
}

/// Returns `true` if a long line is a paragraph: words with spaces, or letters outside of ASCII, and few signs of syntax.
fn is_prose(line: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| line.iter().filter(|byte| is(byte)).count();
    let signs = count(|byte| b"(){}[];=<>|&\"".contains(byte));
    let spaces = count(|byte| *byte == b' ');
    let others = count(|byte| *byte >= 0x80);
    signs * BYTES_A_SIGN <= line.len() && (spaces * BYTES_A_SPACE >= line.len() || 2 * others >= line.len())
}

/// Returns `true` if a long line holds statements rather than data in a string.
fn is_program_text(line: &[u8]) -> bool {
    let marks = line.iter().filter(|byte| matches!(byte, b'(' | b')' | b'{' | b'}' | b';' | b',')).count();
    marks * BYTES_A_MARK >= line.len()
}

/// Returns `true` if a comment in the first lines says that a program wrote the file.
pub fn is_generated(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEADER_BYTES)];
    let (mut generated, mut forbidden) = (None, None);
    for (row, line) in head.split(|byte| *byte == b'\n').take(HEADER_LINES).enumerate() {
        let line = line.trim_ascii_start();
        let comment = [&b"//"[..], b"/*", b"*", b"#", b"--", b"<!--", b";", b"%", b"\"\"\"", b"'", b"(*", b"{-", b"@"];
        if !comment.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let line = line.to_ascii_lowercase();
        if announces_generation(&line) {
            return true;
        }
        if contains(&line, b"generated") {
            generated = Some(row);
        }
        if forbids_edits(&line) {
            forbidden = Some(row);
        }
        // A notice over several lines.
        if generated.zip(forbidden).is_some_and(|(one, other)| one.abs_diff(other) <= NOTICE_LINES) {
            return true;
        }
    }
    false
}

fn forbids_edits(line: &[u8]) -> bool {
    [&b"do not edit"[..], b"do not modify", b"don't edit", b"do not change this file"]
        .iter()
        .any(|phrase| contains(line, phrase))
}

const ANNOUNCEMENTS: &str = "\
this file is automatically generated
this file was automatically generated
this file is auto-generated
this file is autogenerated
this file is generated by
this file is generated from
this file was generated by
automatically generated by
autogenerated by
auto-generated by
generated by the protocol buffer compiler
<auto-generated";

/// Phrases by which generators announce themselves; `Code generated ... DO NOT EDIT.` is Go's convention, `@generated`
/// Meta's. A comment that only mentions generated code has none of these. The line is in lowercase.
fn announces_generation(line: &[u8]) -> bool {
    let has = |phrase: &str| contains(line, phrase.as_bytes());
    (has("generated") && forbids_edits(line))
        || (has("@generated") && !has("`@generated`") && !has("\"@generated\""))
        || ANNOUNCEMENTS.lines().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(path: &str) -> Option<Skip> {
        skip_by_path(path, 1_000, &Limits::default())
    }

    #[test]
    fn lock_files_and_what_only_machines_write_are_left_out() {
        for path in [
            "Cargo.lock", "web/package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "go.sum",
            "Gemfile.lock", "composer.lock",
        ] {
            assert_eq!(skip(path), Some(Skip::Lock), "{path}");
        }
        assert_eq!([skip("a/jquery.min.js"), skip("a/app.js.map")], [Some(Skip::Minified), Some(Skip::Minified)]);
        for path in ["logo.PNG", "a.tar.gz", "lib/libz.so.1.2", "x.wasm"] {
            assert_eq!(skip(path), Some(Skip::Binary), "{path}");
        }
        for path in ["src/lock.rs", "src/map.js", "go.mod", "src/minimum.js", "Makefile", "unknown"] {
            assert_eq!(skip(path), None, "{path}");
        }
        for path in [
            "api/a.pb.go", "a_pb2.py", "lib/a.g.dart", "Main.Designer.cs", "zz_generated.deepcopy.go", "a.generated.ts",
        ] {
            assert_eq!(skip(path), Some(Skip::Generated), "{path}");
        }
        for path in ["src/generated.rs", "a_pb.go", "designer.cs", "moc.cpp", "src/tab.c"] {
            assert_eq!(skip(path), None, "{path}");
        }
        for path in ["moc_notes.md", "zz_generated.md", "docs/api.generated.md", "moc_plan.txt", "qrc_codes.rst"] {
            assert_eq!(skip(path), None, "{path} is for people");
        }
    }

    #[test]
    fn endings_that_text_has_too_are_not_taken_for_binary() {
        for path in ["a.mo", "login.exp", "b.pkg", "c.dump", "d.dat", "e.lib", "f.bc", "ui.snap", "libz.map", "g.com"] {
            assert_eq!(skip(path), None, "{path}");
        }
        assert_eq!(skip_by_path("d.dat", 65_537, &Limits::default()), Some(Skip::Data));
    }

    #[test]
    fn sizes_count_by_what_the_file_is_and_nul_bytes_mean_binary_unless_the_encoding_explains_them() {
        let limits = Limits::default();
        assert_eq!(skip_by_path("a.rs", 0, &limits), Some(Skip::Empty));
        assert_eq!(skip_by_path("a.rs", 1 << 20, &limits), None);
        assert_eq!(skip_by_path("a.rs", (1 << 20) + 1, &limits), Some(Skip::TooLarge));
        for path in ["a.csv", "a.log", "a.sql", "a.md"] {
            assert_eq!(skip_by_path(path, 32 << 20, &limits), None, "{path}");
            assert_eq!(skip_by_path(path, (32 << 20) + 1, &limits), Some(Skip::TooLarge), "{path}");
        }
        assert_eq!(skip_by_path("a.json", 65_537, &limits), None);
        assert_eq!(skip_by_path("a.json", 262_145, &limits), Some(Skip::Data));
        let document = if is_document("a.pdf") { None } else { Some(Skip::Binary) };
        assert_eq!(skip_by_path("a.pdf", 5 << 20, &limits), document);
        let document = document.or(Some(Skip::TooLarge));
        assert_eq!(skip_by_path("a.pdf", (32 << 20) + 1, &limits), document);
        assert_eq!(skip_by_content("a", b"ab\0cd"), Some(Skip::Binary));
        assert_eq!(skip_by_content("a.txt", b"\xff\xfea\0b\0"), None);
        let mut late = vec![b'a'; 9 << 10];
        late.push(0);
        assert_eq!(skip_by_content("a.txt", &late), None);
    }

    #[test]
    fn private_keys_are_recognised_by_their_first_line() {
        let key = |kind: &str| format!("\n-----BEGIN {kind}PRIVATE KEY-----\nabc\n");
        for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
            assert_eq!(skip_by_content("notes", key(kind).as_bytes()), Some(Skip::Secret), "{kind}");
        }
        let quoted = format!("How to read a key\n{}", key("RSA "));
        assert_eq!(skip_by_content("guide.md", quoted.as_bytes()), None);
        let secret = b"apiVersion: v1\nkind: Secret\ndata:\n  a: ZmFrZXZhbHVlMDAwMA==\n";
        assert_eq!(skip_by_content("k8s/a.yml", secret), Some(Skip::Secret));
        assert_eq!(skip_by_content("guide.md", secret), None);
    }

    #[test]
    fn minified_code_is_left_out_wherever_it_stands_and_long_paragraphs_are_not() {
        let line = "var a=function(b){return b+1};".repeat(400);
        assert_eq!(skip_by_content("a.js", line.as_bytes()), Some(Skip::Minified));
        assert_eq!(skip_by_content("a.md", line.as_bytes()), None);
        assert_eq!(skip_by_content("a.json", br#"{"compact": [1, 2, 3]}"#), None);
        let written = "var a = 1;\n".repeat(10_000);
        let bundle = "function f(a,b){return a+b};".repeat(5_000);
        assert!(written.len() > 64 << 10);
        assert_eq!(skip_by_content("a.js", format!("{written}{bundle}\n").as_bytes()), Some(Skip::Minified));
        let little = &bundle[..written.len() / 2];
        assert_eq!(skip_by_content("a.js", format!("{written}{little}\n").as_bytes()), None, "most of it is written");
        let picture = format!("{written}var icon = \"{}\";\n", "iVBORw0KGgo/AAAN+SUhEUg".repeat(10_000));
        assert_eq!(skip_by_content("a.js", picture.as_bytes()), None, "a long string hides no program");
    }

    #[test]
    fn long_paragraphs_are_not_minified_in_any_format() {
        let sentence =
            "The boiler stands in the cellar, beside the old press; its valve (brass) leaks when the frost comes. ";
        let paragraphs = format!("{}\n\n", sentence.repeat(8)).repeat(12);
        let german = "Der Kessel steht im Keller. „Er tropft“, sagte sie. ".repeat(200);
        let chinese = "锅炉在地下室里，旁边是旧压力机。阀门在霜冻时会漏水。".repeat(100);
        for path in [
            "NOTES", "a.eml", "a.xml", "a.po", "a.html", "a.yaml", "a.log", "a.vue", "a.mbox", "a.rtf2", "a.ini",
            "a.tpl",
        ] {
            for text in [&paragraphs, &german, &chinese] {
                assert_eq!(skip_by_content(path, text.as_bytes()), None, "{path}");
            }
            let marked = paragraphs.replace("The boiler", "<p>The <b>boiler</b>");
            assert_eq!(skip_by_content(path, marked.as_bytes()), None, "{path} with markup");
        }
        for line in [
            "{\"name\":\"a\",\"size\":12,\"next\":{\"name\":\"b c\"}},",
            "INSERT INTO a VALUES (1, 'one', 2), (2, 'two', 3); ",
            "<a x=\"1\"><b y=\"2\" z=\"3\"/></a>",
            ".a{color:red;margin:0 1px}",
            "function f(a,b){return a + b;} ",
        ] {
            assert_eq!(skip_by_content("a.xyz", line.repeat(300).as_bytes()), Some(Skip::Minified), "{line}");
        }
    }

    #[test]
    fn the_first_bytes_tell_a_binary_file_and_generated_files_say_so_near_the_top() {
        for (path, bytes) in
            [("a.mo", &b"\xde\x12\x04\x95\0\0\0\0"[..]), ("a.dat", &[1, 2, 3, 250, 7, 14]), ("a.ts", b"G@\x11\x10\0")]
        {
            assert_eq!(skip_by_content(path, bytes), Some(Skip::Binary), "{path}");
        }
        let cases = [("a.mo", "model A \"one\"\nend A;\n"), ("a.log", "\x1b[31mred\x1b[0m\n"), ("a.dat", "1 2\n3 4\n")];
        for (path, text) in cases {
            assert_eq!(skip_by_content(path, text.as_bytes()), None, "{path}");
        }
        for (path, text) in [
            ("a.go", "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a"),
            ("a.rs", "/* automatically generated by rust-bindgen 0.69 */\n"),
            ("a.py", "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n"),
            ("a.cs", "// <auto-generated>\n"),
            ("a.py", "# Generated from shop.thrift\n#\n# DO NOT EDIT UNLESS YOU KNOW WHY\n"),
            ("a.js", "/**\n * @generated SignedSource<<1>>\n */\n"),
        ] {
            assert_eq!(skip_by_content(path, text.as_bytes()), Some(Skip::Generated), "{path}");
        }
        for (path, text) in [
            ("a.rs", "//! Recognises files with `@generated` in them.\n"),
            ("a.rs", "fn f() -> &str { \"code generated, do not edit\" }\n"),
            ("a.md", "<!-- generated by a tool, do not edit -->\n# Title\n"),
            ("a.py", "# Reads generated files.\n#\n#\n#\n#\n# Lines marked so are ones that people do not edit.\n"),
            ("a.go", "// Package gen holds the code generator.\npackage gen"),
        ] {
            assert_eq!(skip_by_content(path, text.as_bytes()), None, "{text}");
        }
        let late = format!("{}// @generated\n", "// a line\n".repeat(40));
        assert_eq!(skip_by_content("a.rs", late.as_bytes()), None);
    }

    #[test]
    fn pointers_to_large_files_are_no_text_and_white_space_is_empty() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        for path in ["notes.md", "a.rs", "handbook.pdf"] {
            assert_eq!(skip_by_content(path, pointer.as_bytes()), Some(Skip::LfsPointer), "{path}");
            let read = crate::read_document(path, pointer.as_bytes(), &crate::Options::default());
            assert_eq!(read.err(), Some(Skip::LfsPointer), "{path}");
        }
        let quoted = format!("A pointer is a text:\n\n{pointer}");
        assert_eq!(skip_by_content("notes.md", quoted.as_bytes()), None);
        assert_eq!(skip_by_content("a.rs", b" \r\n\t\n"), Some(Skip::Empty));
    }
}
