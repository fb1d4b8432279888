//! Enums that are stored and printed by name: one list of names serves `as_str`, `FromStr`, `Display` and serde alike.

/// A name that does not belong to any variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {what} is called `{value}`; one of: {}", expected.join(", "))]
pub struct UnknownName {
    /// The kind of thing named, for example `role`.
    pub what: &'static str,
    /// The name that was given.
    pub value: String,
    /// The valid names.
    pub expected: &'static [&'static str],
}

/// Declares a fieldless enum together with the name of each variant.
macro_rules! named {
    (
        $(#[$outer:meta])*
        $name:ident is a $what:literal {
            $( $(#[$inner:meta])* $variant:ident = $text:literal, )+
        }
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $( $(#[$inner])* #[serde(rename = $text)] $variant, )+
        }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The name of every variant, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// The name under which this is stored and printed.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::names::UnknownName;

            fn from_str(value: &str) -> Result<Self, Self::Err> {
                match value {
                    $($text => Ok($name::$variant),)+
                    _ => Err($crate::names::UnknownName {
                        what: $what,
                        value: value.to_owned(),
                        expected: Self::NAMES,
                    }),
                }
            }
        }
    };
}

pub(crate) use named;

#[cfg(test)]
mod tests {
    use crate::{Kind, Role, Skip};

    #[test]
    fn a_name_reads_back_as_its_variant() {
        for kind in Kind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(*role));
        }
        for skip in Skip::ALL {
            assert_eq!(skip.as_str().parse(), Ok(*skip));
            assert_eq!(serde_json::to_string(skip).ok(), Some(format!("\"{skip}\"")));
        }
    }

    #[test]
    fn an_unknown_name_says_which_exist() {
        let error = "mian".parse::<Role>().unwrap_err().to_string();
        assert!(error.contains("role") && error.contains("`mian`") && error.contains("main, test"), "{error}");
    }
}
