//! Descriptions as somebody would ask for them.

use super::pairs::Pair;
use super::random::Random;

const STOP: [&str; 15] =
    ["the", "a", "an", "of", "to", "in", "this", "for", "is", "and", "with", "that", "from", "by", "if"];

/// Returns the sentence of a pair as it is, or with its verb in the form of a request: as a question, with the language's name, or as
/// keywords. `plain` is the share that stays.
pub fn asked(pair: &Pair, plain: f32, random: &mut Random) -> String {
    let sentence = pair.sentence.as_str();
    if random.unit() < plain {
        return sentence.to_owned();
    }
    let language = match pair.language.as_str() {
        "csharp" => "c#",
        "cpp" => "c++",
        other => other,
    };
    let (verb, rest) = sentence.split_once(' ').unwrap_or((sentence, ""));
    let wanted = format!("{} {rest}", request(verb, random));
    match random.below(6) {
        0 => format!("how to {wanted}"),
        1 => format!("how to {wanted} in {language}"),
        2 => format!("{language} {wanted}"),
        3 => format!("function to {wanted}"),
        4 => format!("how do I {wanted}"),
        _ => wanted.split(' ').filter(|word| !STOP.contains(word)).collect::<Vec<_>>().join(" "),
    }
}

/// `Returns` becomes `get`, `Parses` becomes `parse`.
fn request(verb: &str, random: &mut Random) -> String {
    let verb = verb.to_lowercase();
    let words: &[&str] = match verb.as_str() {
        "returns" | "return" | "gets" => &["get", "return", "find"],
        "creates" | "create" | "constructs" => &["create", "make", "new"],
        "checks" | "determines" | "whether" => &["check", "test"],
        _ => return verb.strip_suffix('s').filter(|verb| !verb.ends_with('s')).unwrap_or(&verb).to_owned(),
    };
    words[random.below(words.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_becomes_a_request() {
        let sentence = "Parses the header of a file".to_owned();
        let pair = Pair { package: 0, language: "go".to_owned(), sentence, rest: vec![], name: vec![], code: vec![] };
        let mut random = Random::new(3);
        assert_eq!(asked(&pair, 1.0, &mut random), "Parses the header of a file");
        let forms: std::collections::BTreeSet<String> = (0..100).map(|_| asked(&pair, 0.0, &mut random)).collect();
        assert_eq!(forms.len(), 6);
        assert!(forms.contains("how to parse the header of a file in go") && forms.contains("parse header file"));
    }
}
