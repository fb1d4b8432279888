//! Enumerations whose values have names in JSON, SQL and other texts, and in columns.

/// Gives the values of an enumeration their names.
macro_rules! names {
    ($type:ident { $($value:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// All values.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// Returns the name in texts, such as JSON and SQL.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }

            /// Returns the value with this name.
            pub fn from_name(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|value| value.as_str() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl $crate::session::FromValue for $type {
            fn from_value(value: $crate::session::Value) -> Result<$type, String> {
                let name = String::from_value(value)?;
                $type::from_name(&name).ok_or_else(|| format!("{name:?} is no {}", stringify!($type)))
            }
        }

        impl From<&$type> for $crate::session::Value {
            fn from(value: &$type) -> $crate::session::Value {
                value.as_str().into()
            }
        }
    };
}
pub(crate) use names;
