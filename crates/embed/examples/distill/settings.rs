//! The constants of the second part of the recipe.

use anyhow::{Context, Result, bail};

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        /// Each can be set on the command line, to compare variants.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings {
            $($(#[$doc])* pub $name: f32,)*
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $value,)* }
            }
        }

        impl Settings {
            /// Applies `NAME=VALUE`.
            pub fn set(&mut self, assignment: &str) -> Result<()> {
                let (name, value) = assignment.split_once('=').context("--set takes NAME=VALUE")?;
                let value = value.parse().with_context(|| format!("{value} is no number for {name}"))?;
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => bail!("no setting is called {name}; there are: {}", [$(stringify!($name)),*].join(", ")),
                }
                Ok(())
            }
        }
    };
}

settings! {
    /// Pairs of a batch.
    batch = 1024.0;
    /// Times that each pair is seen.
    epochs = 4.0;
    /// Divides the similarities of a batch.
    temperature = 0.05;
    /// Step of Adam at the start; it falls to zero linearly.
    rate = 3e-3;
    /// Passages of prose beside a batch of pairs, which keep the vector that the first part gave them.
    prose = 2048.0;
    /// Weight of the loss of prose against that of pairs.
    pull = 20.0;
    /// Translated paragraphs beside a batch of pairs, which get the vector of their original.
    translations = 512.0;
    /// Weight of the loss of translations.
    translation_pull = 1.0;
    /// Share of the descriptions that stay as they are; others become questions and keywords.
    plain = 0.5;
    /// Share of the codes that are cut.
    cut = 0.2;
    /// Share of the codes that keep the rest of their comment.
    comment = 0.3;
    /// Pairs of one package that stay together in a batch.
    together = 1.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_set_by_name() {
        let mut settings = Settings::default();
        settings.set("pull=2.5").unwrap();
        assert_eq!(settings, Settings { pull: 2.5, ..Settings::default() });
        assert!(settings.set("pull=x").is_err() && settings.set("push=1").is_err() && settings.set("pull").is_err());
    }
}
