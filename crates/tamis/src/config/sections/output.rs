//! `[output]`: what the command line prints on a terminal.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::config::declare::{Entry, section, text};
use crate::config::error::{ConfigError, Source};
use crate::index_location::machine_name;

section! {
    /// What the command line prints on a terminal.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OutputConfig {
        /// Links of places on a terminal: none, default, file, vscode, vscodium, cursor, idea, …, or a format with {path}, {line},
        /// {column}, {host} and {wslprefix}; user's configuration only.
        pub hyperlink_format: Option<HyperlinkFormat> = "output.hyperlink_format", text("none").check(format);
    }
}

/// The names of formats, those of ripgrep and `idea`.
const NAMED: [(&str, &str); 12] = [
    ("none", ""),
    ("default", if cfg!(windows) { "file://{path}" } else { "file://{host}{path}" }),
    ("file", "file://{host}{path}"),
    ("cursor", "cursor://file{path}:{line}:{column}"),
    ("grep+", "grep+://{path}:{line}"),
    ("idea", "idea://open?file={path}&line={line}&column={column}"),
    ("kitty", "file://{host}{path}#{line}"),
    ("macvim", "mvim://open?url=file://{path}&line={line}&column={column}"),
    ("textmate", "txmt://open?url=file://{path}&line={line}&column={column}"),
    ("vscode", "vscode://file{path}:{line}:{column}"),
    ("vscode-insiders", "vscode-insiders://file{path}:{line}:{column}"),
    ("vscodium", "vscodium://file{path}:{line}:{column}"),
];

const VARIABLES: [&str; 5] = ["{path}", "{line}", "{column}", "{host}", "{wslprefix}"];

/// The form of a link to a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperlinkFormat(String);

impl HyperlinkFormat {
    /// Returns the address of a place in a file, in printable ASCII. `path` is absolute; lines and columns count from 1.
    pub fn address(&self, path: &Path, line: u32, column: u32) -> String {
        let path = path.to_string_lossy();
        // A drive's letter stands behind a slash: file:///C:/x.
        let path = if cfg!(windows) { format!("/{}", path.replace('\\', "/")) } else { path.into_owned() };
        let wsl = std::env::var("WSL_DISTRO_NAME").map(|name| format!("wsl$/{}", encoded(&name))).unwrap_or_default();
        let values = [encoded(&path), line.to_string(), column.to_string(), encoded(&machine_name()), wsl];
        // No value holds a brace.
        VARIABLES.iter().zip(values).fold(self.0.clone(), |text, (variable, value)| text.replace(variable, &value))
    }
}

/// All but what a path keeps: letters, digits and these.
const ENCODED: &AsciiSet = {
    const NAMES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    if cfg!(windows) { &NAMES.remove(b':') } else { NAMES }
};

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

fn format(entry: &Entry<'_>, text: String) -> Result<Option<HyperlinkFormat>, ConfigError> {
    // A tree that somebody else wrote must not decide what a click opens.
    if let Source::Project(path) = &entry.setting.source {
        let key = "output.hyperlink_format".to_owned();
        return Err(ConfigError::UsersOwn { path: path.clone(), key, user: None });
    }
    let named = NAMED.iter().find(|(name, _)| *name == text);
    let format = named.map_or(text.as_str(), |(_, format)| format);
    if named.is_some() && format.is_empty() {
        return Ok(None);
    }
    let refuse = |allowed: String| Err(entry.refuse(text.as_str(), allowed));
    let plain = VARIABLES.iter().fold(format.to_owned(), |text, variable| text.replace(variable, ""));
    let scheme = format.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|character| character.is_ascii_alphanumeric() || "+.-".contains(character));
    if !is_scheme || !format.contains("{path}") {
        let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
        return refuse(format!(
            "{}, or an address with {{path}} such as editor://open{{path}}:{{line}}",
            names.join(", ")
        ));
    }
    if plain.contains(['{', '}']) || !plain.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refuse(format!(
            "an address in plain ASCII without spaces, with no variables but {}",
            VARIABLES.join(", ")
        ));
    }
    if format.contains("{column}") && !format.contains("{line}") {
        return refuse("an address that has {line} where it has {column}".to_owned());
    }
    Ok(Some(HyperlinkFormat(format.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::{flags, given};

    fn address(format: &str, path: &str) -> Option<String> {
        let format = flags(&[("output.hyperlink_format", format)]).expect(format).output.hyperlink_format;
        format.map(|format| format.address(Path::new(path), 7, 3))
    }

    #[cfg(unix)]
    #[test]
    fn an_address_holds_nothing_of_a_path_as_it_is_but_letters() {
        let host = encoded(&machine_name());
        let hostile = "/a b/\u{1b}]8;;x\u{7}{line}:9%ä.rs";
        let encoded = "/a%20b/%1B%5D8%3B%3Bx%07%7Bline%7D%3A9%25%C3%A4.rs";
        assert_eq!(address("none", hostile), None);
        assert_eq!(address("default", hostile), Some(format!("file://{host}{encoded}")));
        assert_eq!(address("vscode", hostile), Some(format!("vscode://file{encoded}:7:3")));
        assert_eq!(address("x-y.z+1:{path}?{line}", "/a"), Some("x-y.z+1:/a?7".to_owned()));
        for (name, _) in NAMED {
            address(name, "/a");
        }
    }

    #[test]
    fn a_wrong_format_is_refused_with_what_is_allowed() {
        for case in [
            "vscod => vscodium", " => default", "{path} => editor://", "1x://{path} => editor://",
            "x://{line} => {path}", "x://{path}{lnie} => {wslprefix}", "x://{path}} => no variables but",
            "x://{path} y => without spaces", "x://{path}\u{1b}\\ => plain ASCII", "x://{path}:{column} => {line}",
        ] {
            let (format, says) = case.split_once(" => ").expect("two parts");
            let error = flags(&[("output.hyperlink_format", format)]).expect_err(format);
            assert!(error.contains("--flag: output.hyperlink_format") && error.contains(says), "{format}: {error}");
        }
        let project = given("", "[output]\nhyperlink_format = \"vscode\"\n", &[]).expect_err("the user's own");
        assert!(project.contains("user's configuration"), "{project}");
    }
}
