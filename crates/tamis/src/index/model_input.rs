//! What a model reads of a passage.

use std::borrow::Cow;
use tamis_embed::{ModelInfo, Provider};

/// Parts of a path that a model reads, the last ones.
const PATH_PARTS: usize = 3;

/// Returns what a model reads of a passage: the last three parts of its document's path as a first line, then its text. A file's
/// name often says what its passages only imply. The vector stays the text's: a moved file keeps its vectors, and a text that
/// several files have is read with the path of the first.
pub(crate) fn model_input<'t>(model: &ModelInfo, path: &str, text: &'t str) -> Cow<'t, str> {
    if model.provider == Provider::Static || path.is_empty() {
        return text.into();
    }
    format!("{}\n{text}", path_line(path)).into()
}

/// Returns the last three parts of a path.
pub(crate) fn path_line(path: &str) -> &str {
    let start = path.rmatch_indices('/').nth(PATH_PARTS - 1).map_or(0, |(at, _)| at + 1);
    &path[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_the_end_of_the_path_first() {
        let model =
            |provider| ModelInfo { id: "m".into(), dimension: 1, max_tokens: None, provider, fusion_weight: 0.5 };
        let read = |path: &str| model_input(&model(Provider::Local), path, "fn main() {}");
        assert_eq!(read("a/b/src/bin/main.rs"), "src/bin/main.rs\nfn main() {}");
        assert_eq!(read("bin/main.rs"), "bin/main.rs\nfn main() {}");
        assert_eq!(read(""), "fn main() {}");
        assert_eq!(model_input(&model(Provider::Static), "main.rs", "x"), "x");
    }
}
