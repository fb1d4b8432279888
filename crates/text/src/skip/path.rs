//! Decides by a file's name and size if it is left out, without opening it.

use super::secret::is_secret;
use super::{Limits, Skip};
use crate::Language;
use crate::documents::is_document;
use crate::languages::Category;
use crate::parts::is_read_in_parts;

const LOCK_NAMES: &[&str] = &[
    "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum", "go.work.sum", "bun.lockb", "pdm.lock",
    "mix.lock", "packages.lock.json", "project.assets.json", "podfile.lock", "module.bazel.lock",
    "cabal.project.freeze", "deno.lock", ".terraform.lock.hcl", "gradle.lockfile", "buildscript-gradle.lockfile",
    "conda-lock.yml", "package.resolved", "yarn.lock", ".pnp.cjs", ".pnp.loader.mjs", "lock.mdb",
];

#[rustfmt::skip] // grouped by what they are
const BINARY_EXTENSIONS: &[&str] = &[
    // pictures and fonts
    "png", "jpg", "jpeg", "jpe", "gif", "bmp", "ico", "icns", "webp", "avif", "heic", "heif", "tif", "tiff", "psd", "xcf",
    "svg", "svgz", "eps", "ai", "sketch", "dds", "ktx", "hdr", "exr", "tga", "ttf", "otf", "woff", "woff2", "eot", "ttc",
    // sound and film
    "mp3", "mp4", "m4a", "m4v", "wav", "flac", "ogg", "oga", "ogv", "opus", "aac", "avi", "mov", "mkv", "webm", "wmv", "mid",
    // archives and packages
    "zip", "gz", "tgz", "bz2", "tbz2", "xz", "txz", "zst", "lz4", "lzma", "7z", "rar", "tar", "jar", "war", "ear", "whl", "egg",
    "gem", "crate", "nupkg", "deb", "rpm", "apk", "ipa", "dmg", "iso", "img", "msi", "cab", "vsix", "xpi",
    // programs and what compilers leave
    "exe", "dll", "so", "dylib", "a", "o", "pdb", "class", "pyc", "pyo", "pyd", "wasm", "elc", "beam", "rlib",
    "rmeta", "ilk", "dex", "bin", "ko", "hex", "elf", "uf2", "gch", "pch", "d8",
    // documents that are not text
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "epub", "mobi", "djvu", "ps",
    // databases, models and arrays
    "db", "sqlite", "sqlite3", "db3", "mdb", "accdb", "rdb", "parquet", "arrow", "feather", "avro", "orc", "npy", "npz", "h5",
    "hdf5", "pkl", "pickle", "joblib", "pt", "pth", "ckpt", "onnx", "safetensors", "gguf", "ggml", "tflite", "mat", "rds",
    "rdata", "dbf", "shp", "shx", "mmdb", "tfrecord", "lmdb", "qm", "glb", "gltf", "fbx",
    "blend", "3ds", "pcap", "pcapng", "swf", "uasset", "der", "cer", "crt",
];

/// Endings of tables and dumps that are text as often as not. The content decides, and few of them are for people.
const DUMPS: &[&str] = &["dat", "dump", "idx", "obj", "pack", "raw", "stl", "unity"];

/// Endings of file names that well-known generators write.
#[rustfmt::skip] // grouped by what writes them
const GENERATED_ENDS: &[&str] = &[
    // protocol buffers and their like
    ".pb.go", ".pb.gw.go", "_pb2.py", "_pb2.pyi", "_pb2_grpc.py", "_pb2_grpc.pyi", "_pb.js", "_pb.d.ts", "_pb.ts", ".pb.ts",
    ".pb.h", ".pb.cc", ".pb-c.h", ".pb-c.c", "_pb.rb", "_services_pb.rb", ".pb.swift", ".grpc.swift", ".pb.dart", ".pbenum.dart",
    ".pbjson.dart", ".pbserver.dart", ".pbgrpc.dart",
    // builders of Dart, designers and source generators of .NET
    ".g.dart", ".freezed.dart", ".gr.dart", ".mocks.dart", ".designer.cs", ".designer.vb", ".g.cs", ".g.i.cs",
    // parsers
    ".tab.c", ".tab.h", ".yy.c",
];
const GENERATED_STARTS: &[&str] = &["zz_generated.", "moc_", "qrc_"];

/// Returns `true` if only generators write files of this name, in lowercase.
pub(crate) fn is_generated_name(name: &str) -> bool {
    GENERATED_ENDS.iter().any(|end| name.ends_with(end))
        || GENERATED_STARTS.iter().any(|start| name.starts_with(start))
        || name.contains(".generated.")
}

/// Returns `true` if a file name, in lowercase, is that of minified program text.
pub(crate) fn is_minified_name(name: &str) -> bool {
    [".js.map", ".mjs.map", ".cjs.map", ".ts.map", ".css.map"].iter().any(|end| name.ends_with(end))
        || [".min.js", ".min.css", ".min.mjs", "-min.js", ".bundle.js"].iter().any(|end| name.ends_with(end))
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
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if is_secret(path) {
        return Some(Skip::Secret);
    }
    if LOCK_NAMES.contains(&name.as_str()) || extension == "lock" || extension == "lockb" {
        return Some(Skip::Lock);
    }
    if is_document(path) {
        return match size {
            0 => Some(Skip::Empty),
            size if size > limits.max_document_bytes => Some(Skip::TooLarge),
            _ => None,
        };
    }
    if is_binary(&name, extension) {
        return Some(Skip::Binary);
    }
    if is_minified_name(&name) {
        return Some(Skip::Minified);
    }
    let language = Language::of(path, "");
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
    if DUMPS.contains(&extension) && size > limits.max_table_bytes {
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
        () if is_read_in_parts(Language::of(path, "")) => limits.max_bytes.saturating_mul(LARGER),
        () => limits.max_bytes,
    }
}

/// How much larger a text may be of which parts are read.
const LARGER: u64 = 32;

fn is_binary(name: &str, extension: &str) -> bool {
    // `libz.so.1.2` carries its version after the extension.
    BINARY_EXTENSIONS.contains(&extension) || name.contains(".so.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(path: &str) -> Option<Skip> {
        skip_by_path(path, 1_000, &Limits::default())
    }

    #[test]
    fn lock_files_and_machine_output_are_left_out() {
        for path in [
            "Cargo.lock", "web/package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "go.sum",
            "Gemfile.lock", "composer.lock",
        ] {
            assert_eq!(skip(path), Some(Skip::Lock), "{path}");
        }
        assert_eq!(skip("a/jquery.min.js"), Some(Skip::Minified));
        assert_eq!(skip("a/app.js.map"), Some(Skip::Minified));
        for path in ["logo.PNG", "a.tar.gz", "lib/libz.so.1.2", "x.wasm"] {
            assert_eq!(skip(path), Some(Skip::Binary), "{path}");
        }
        for path in ["src/lock.rs", "src/map.js", "go.mod", "src/minimum.js", "Makefile", "unknown"] {
            assert_eq!(skip(path), None, "{path}");
        }
    }

    #[test]
    fn names_that_only_generators_give_are_left_out() {
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
    fn sizes_count_by_what_the_file_is() {
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
    }
}
