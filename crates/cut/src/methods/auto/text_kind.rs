//! Kinds of text with priors of their own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kind of text that a query searches, as far as it says how many answers a query has.
///
/// Prose has one answer or forty, depending on the collection. A question about a source tree has one file or a few. A
/// question to a collection of functions has one among many look-alikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// Documentation, articles, issues, notes: anything but source code.
    #[default]
    Prose,
    /// The files of a source tree.
    Code,
    /// Functions or snippets, each a document of its own.
    Functions,
}

impl TextKind {
    /// The name of the kind, as configuration and records have it.
    pub fn name(self) -> &'static str {
        match self {
            TextKind::Prose => "prose",
            TextKind::Code => "code",
            TextKind::Functions => "functions",
        }
    }
}

impl fmt::Display for TextKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TextKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "prose" => Ok(TextKind::Prose),
            "code" => Ok(TextKind::Code),
            "functions" => Ok(TextKind::Functions),
            _ => Err(format!("must be prose, code or functions and is \"{name}\"")),
        }
    }
}
