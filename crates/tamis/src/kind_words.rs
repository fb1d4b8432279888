//! Kinds of passages in words.

/// Returns the kind of a passage in words, as those call it who write its language: a Go interface is no trait.
///
/// ```
/// use tamis::kind_in_words;
///
/// assert_eq!(kind_in_words("trait", Some("go")), "interface");
/// assert_eq!(kind_in_words("trait", Some("rust")), "trait");
/// assert_eq!(kind_in_words("pull_request", None), "pull request");
/// ```
pub fn kind_in_words(kind: &str, language: Option<&str>) -> String {
    if kind != "trait" {
        return kind.replace('_', " ");
    }
    let word = match language {
        None | Some("rust" | "scala" | "groovy") => "trait",
        Some("swift" | "elixir" | "objectivec" | "clojure") => "protocol",
        Some("haskell") => "type class",
        Some("cpp") => "concept",
        Some("protobuf") => "service",
        Some(_) => "interface",
    };
    word.to_owned()
}
