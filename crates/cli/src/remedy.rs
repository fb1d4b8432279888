//! The flags and commands that resolve an error of the library, which knows neither.

use tamis::Error;

/// Returns the flag or command to type, for an error with such a remedy.
pub fn of(error: &anyhow::Error) -> Option<&'static str> {
    Some(match error.chain().find_map(|cause| cause.downcast_ref::<Error>())? {
        Error::IndexDirectory { .. } => "--index DIR or TAMIS_INDEX",
        Error::Unreadable { .. } => "--skip-bad",
        Error::Argument { name: "namespace", .. } => "--namespace NAME",
        Error::Argument { name: "origin", .. } => "--origin NAME or --namespace NAME",
        Error::Argument { name: "query id", .. } => "`tamis feedback --list` shows them",
        Error::Guarantee { .. } => "`tamis feedback`, or `tamis feedback --import` for judged queries",
        Error::LargeTree { .. } => {
            "`tamis index --dry-run` says what would be read, and `tamis index --any-size` reads it"
        }
        Error::NotEmbedded { .. } => "`tamis index --wait` waits for it",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_library_is_found_under_what_the_command_says() {
        let error = Error::IndexDirectory { path: "a".into(), reason: "not writable".into() };
        assert_eq!(of(&anyhow::Error::from(error).context("indexing")), Some("--index DIR or TAMIS_INDEX"));
        assert_eq!(of(&anyhow::anyhow!("other")), None);
    }
}
