//! The list of a model's files, as the hub gives it.

use super::ModelName;
use super::sums::Sum;
use crate::error::HubError;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The most files of a repository.
const MOST_FILES: usize = 20_000;

/// The files of a model at one commit.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub commit: String,
    pub files: BTreeMap<String, Listed>,
    /// The licence of the model card.
    pub license: Option<String>,
}

/// A file of the list. A mirror may leave out size and sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub bytes: Option<u64>,
    pub sum: Option<Sum>,
}

#[derive(Deserialize)]
struct Answer {
    sha: Option<String>,
    #[serde(default)]
    siblings: Vec<Sibling>,
    #[serde(rename = "cardData", default)]
    card: Value,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct Sibling {
    #[serde(rename = "rfilename")]
    name: String,
    size: Option<u64>,
    #[serde(rename = "blobId")]
    blob: Option<String>,
    lfs: Option<Pointer>,
}

#[derive(Deserialize)]
struct Pointer {
    sha256: Option<String>,
    size: Option<u64>,
}

impl Listing {
    /// Reads the hub's answer. Names that are not paths within a repository are left out.
    pub fn parse(name: &ModelName, address: &str, body: &[u8]) -> Result<Self, HubError> {
        let wrong = |reason: String| HubError::Answer {
            address: address.split('?').next().unwrap_or_default().to_owned(),
            reason,
        };
        let answer: Answer =
            serde_json::from_slice(body).map_err(|error| wrong(format!("no description of a model ({error})")))?;
        let commit = answer.sha.unwrap_or_default().to_ascii_lowercase();
        if commit.len() != 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong(format!("{name} has commit {commit:?}; expected 40 hexadecimal digits")));
        }
        if answer.siblings.len() > MOST_FILES {
            return Err(wrong(format!("{} files; expected at most {MOST_FILES}", answer.siblings.len())));
        }
        let files = answer.siblings.into_iter().filter(|file| is_path(&file.name));
        let listed = |file: Sibling| match file.lfs {
            Some(pointer) => {
                let sum = pointer.sha256.as_deref().and_then(Sum::parse);
                (file.name, Listed { bytes: pointer.size.or(file.size), sum })
            }
            None => (file.name, Listed { bytes: file.size, sum: file.blob.as_deref().and_then(Sum::parse) }),
        };
        Ok(Listing { commit, files: files.map(listed).collect(), license: license(&answer.card, &answer.tags) })
    }

    pub fn has(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }
}

/// Returns `true` for a relative path without ways up, and without characters that mean something to a terminal or a system.
pub(super) fn is_path(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.len() <= 512
        && name.split('/').all(is_part)
        && !name.chars().any(|character| character.is_control() || "\\:".contains(character))
}

/// Returns the licence of a model card, or that of the tags.
fn license(card: &Value, tags: &[String]) -> Option<String> {
    let listed = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(texts) => {
            let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        _ => None,
    };
    let tagged = || tags.iter().find_map(|tag| tag.strip_prefix("license:")).map(str::to_owned);
    let license = card.get("license").and_then(listed).or_else(tagged)?;
    let text = |key: &str| card.get(key).and_then(Value::as_str).map(str::to_owned);
    let license = match (license.as_str(), text("license_name")) {
        ("other", Some(name)) => name,
        _ => license,
    };
    Some(shortened(match text("license_link") {
        Some(link) => format!("{license} ({link})"),
        None => license,
    }))
}

/// Returns the licence in the front matter of a model card, which stands between two lines of `---`.
pub(super) fn license_of_card(text: &str) -> Option<String> {
    let mut lines = text.lines();
    if lines.next()?.trim() != "---" {
        return None;
    }
    let mut values = lines.take_while(|line| line.trim() != "---").filter_map(|line| line.strip_prefix("license:"));
    let value = values.next()?.trim().trim_matches(['"', '\'']).trim();
    (!value.is_empty()).then(|| shortened(value.to_owned()))
}

/// Returns a licence on one short line.
fn shortened(license: String) -> String {
    license.chars().filter(|character| !character.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(answer: &Value) -> Result<Listing, HubError> {
        Listing::parse(&"a/b".parse().expect("a name"), "https://hub/api/x?blobs=true", answer.to_string().as_bytes())
    }

    #[test]
    fn sizes_sums_and_licences_come_with_the_names() {
        let (commit, blob, sha256) = ("0A".repeat(20), "1".repeat(40), "2".repeat(64));
        let listing = read(&json!({
            "sha": commit, "cardData": {"license": "mit"}, "siblings": [
                {"rfilename": "config.json", "size": 5, "blobId": blob},
                {"rfilename": "model.safetensors", "size": 130, "blobId": blob, "lfs": {"sha256": sha256, "size": 99, "pointerSize": 130}},
                {"rfilename": "README.md"},
            ],
        }))
        .expect("a list");
        assert_eq!(listing.commit, commit.to_lowercase());
        assert_eq!(listing.files["config.json"], Listed { bytes: Some(5), sum: Some(Sum::Git(blob)) });
        assert_eq!(listing.files["model.safetensors"], Listed { bytes: Some(99), sum: Some(Sum::Sha256(sha256)) });
        assert_eq!(listing.files["README.md"], Listed::default());
        assert_eq!(listing.license.as_deref(), Some("mit"));

        let of =
            |card: Value, tags: &[&str]| license(&card, &tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(json!({"license": "apache-2.0"}), &[]).as_deref(), Some("apache-2.0"));
        assert_eq!(of(json!({"license": ["mit", "cc0-1.0"]}), &[]).as_deref(), Some("mit, cc0-1.0"));
        let other = json!({"license": "other", "license_name": "house", "license_link": "LICENSE"});
        assert_eq!(of(other, &[]).as_deref(), Some("house (LICENSE)"));
        assert_eq!(of(Value::Null, &["en", "license:gemma"]).as_deref(), Some("gemma"));
        assert_eq!(of(Value::Null, &[]), None);
        assert_eq!(license_of_card("---\ntags:\n- x\nlicense: \"mit\"\n---\n# A\n").as_deref(), Some("mit"));
        assert_eq!(license_of_card("---\ntags: x\n---\nlicense: mit\n"), None);
        assert_eq!(license_of_card("license: mit\n"), None);
    }

    #[test]
    fn trap_hostile_names_are_left_out() {
        let names = ["../../x", "/etc/passwd", "a/../b", "a//b", "C:/x", "a\\b", "a\u{1b}[2J", "", ".", "a/./b"];
        let siblings: Vec<Value> = names.iter().map(|name| json!({"rfilename": name})).collect();
        let listing = read(&json!({"sha": "a".repeat(40), "siblings": siblings})).expect("a list");
        assert!(listing.files.is_empty(), "{:?}", listing.files);
        for sha in ["", "../../x", "main", &"g".repeat(40)] {
            assert!(read(&json!({"sha": sha, "siblings": []})).is_err(), "{sha}");
        }
        assert!(read(&json!([])).is_err());
    }
}
