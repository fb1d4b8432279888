//! Enums whose variants are the words of a configuration key.

/// An enum whose variants are the words of a key.
pub(crate) trait Words: Copy + 'static {
    /// Every word, in the order of the variants.
    const WORDS: &'static [&'static str];

    /// Returns the variant that a word names.
    fn from_word(word: &str) -> Option<Self>;

    /// Returns the word that names the variant.
    fn word(self) -> &'static str;
}

/// Declares such an enum with the word of each variant.
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// Every variant by name.
            pub const NAMES: [&'static str; [$($word),+].len()] = [$($word),+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::config::words::Words::word(*self))
            }
        }

        impl $crate::config::words::Words for $name {
            const WORDS: &'static [&'static str] = &Self::NAMES;

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some($name::$variant),)+
                    _ => None,
                }
            }

            fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }
    };
}

pub(super) use words;
