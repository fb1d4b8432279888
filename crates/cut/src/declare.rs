//! One declaration for a method's struct, its defaults, its description and its access by name, so that the doc comment of
//! a field is also its line of help.

/// Declares a method. See `methods/fixed.rs` for the smallest example.
macro_rules! declare {
    (
        $(#[$about:meta])*
        pub struct $rule:ident = $name:literal on $scale:ident, $summary:literal
        $(where $low:ident <= $high:ident)*
        {
            $(#[doc = $doc:literal] pub $field:ident: $kind:ty = $default:expr, $range:expr;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $rule {
            $(#[doc = $doc] pub $field: $kind,)*
        }

        impl Default for $rule {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $rule {
            /// The method's description: name, summary, parameters with their ranges and defaults.
            pub const METHOD: $crate::method::Method = $crate::method::Method {
                name: $name,
                summary: $summary,
                scale: $crate::method::Scale::$scale,
                parameters: &[$($crate::parameter::Parameter {
                    name: stringify!($field),
                    doc: $doc.trim_ascii(),
                    range: $range,
                    default: || $crate::parameter::Setting::to_value(&{ let value: $kind = $default; value }),
                },)*],
                ordered: &[$((stringify!($low), stringify!($high)),)*],
            };

            /// The rule with these settings by name; every other parameter has its default.
            ///
            /// # Errors
            /// An unknown parameter, or a value out of range, with what is allowed.
            pub fn with_settings(settings: &[(&str, $crate::value::Value)]) -> Result<Self, $crate::error::RuleError> {
                #[allow(unused_mut)]
                let mut rule = Self::default();
                for (name, value) in settings {
                    let parameter = Self::METHOD.check_value(name, value)?;
                    match parameter.name {
                        $(stringify!($field) => {
                            if let Some(value) = $crate::parameter::Setting::from_value(value) {
                                rule.$field = value;
                            }
                        })*
                        _ => {}
                    }
                }
                $crate::rule::Settings::check(&rule)?;
                Ok(rule)
            }
        }

        impl $crate::rule::Settings for $rule {
            fn method(&self) -> &'static $crate::method::Method {
                const { &Self::METHOD }
            }

            fn settings(&self) -> Vec<(&'static str, $crate::value::Value)> {
                vec![$((stringify!($field), $crate::parameter::Setting::to_value(&self.$field)),)*]
            }

            fn rebuilt(
                &self,
                settings: &[(&str, $crate::value::Value)],
            ) -> Result<Box<dyn $crate::rule::Rule>, $crate::error::RuleError> {
                Ok(Box::new(Self::with_settings(settings)?))
            }

            fn boxed(&self) -> Box<dyn $crate::rule::Rule> {
                Box::new(self.clone())
            }
        }
    };
}
pub(crate) use declare;
