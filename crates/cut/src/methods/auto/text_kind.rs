//! Kinds of text with priors of their own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kind of text that a query searches, as far as it says how many answers a query has.
///
/// Prose has one answer or forty, depending on the collection. A question about code has one or a few among many
/// look-alikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// Documentation, articles, issues, notes: anything but source code.
    #[default]
    Prose,
    /// Source code.
    Code,
}

impl TextKind {
    /// The name of the kind, as configuration and records have it.
    pub fn name(self) -> &'static str {
        match self {
            TextKind::Prose => "prose",
            TextKind::Code => "code",
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
            _ => Err(format!("must be prose or code and is \"{name}\"")),
        }
    }
}
