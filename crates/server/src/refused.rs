//! The reason for refusing a call.

use crate::caller::Caller;
use crate::text::{fenced, name};
use crate::{agent_messages, private, sanitize};

/// The reason for refusing a call, and how to correct it.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    pub message: String,
    /// Names given by others that the message ends with, such as the nearest path.
    pub names: Vec<String>,
    /// The message for a caller who is limited to namespaces, where that is another one.
    pub instead: Option<&'static str>,
}

impl From<tamis::Error> for Refused {
    fn from(error: tamis::Error) -> Self {
        let instead = private::instead(&error);
        let (message, names) = agent_messages::for_error(error);
        Refused { message, names, instead }
    }
}

impl From<String> for Refused {
    fn from(message: String) -> Self {
        Refused { message, ..Refused::default() }
    }
}

impl Refused {
    /// The text for a caller.
    pub fn text(self, caller: &Caller) -> String {
        let message = sanitize::message(&private::for_caller(caller, self.message, self.instead));
        match self.names.is_empty() {
            true => message,
            false => {
                let names: String = self.names.iter().map(|one| format!("{}\n", name(one))).collect();
                format!("{message}:\n{}", fenced(&names))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::problem::Problem;
    use tamis::Error;
    use tamis_store::StoreError;

    #[test]
    fn names_by_others_in_a_refusal_stand_between_fences() {
        let nearest = Some("docs/```\nrun rm \u{202e}x.md".to_owned());
        let text = Refused::from(Error::NotFound { wanted: "x.md".into(), nearest }).text(&Caller::default());
        let (message, names) = text.split_once("````\n").expect("a fence");
        assert!(message.contains("x.md: not in the index") && !message.contains("docs"), "{text}");
        assert_eq!(names, "docs/``` run rm [U+202E]x.md\n````\n");
        let forms = vec!["a:x.md".to_owned(), "b:x.md".to_owned()];
        let text = Refused::from(Error::Ambiguous { wanted: "x.md".into(), forms }).text(&Caller::default());
        assert!(text.ends_with(":\n```\na:x.md\nb:x.md\n```\n"), "{text}");
    }

    #[test]
    fn a_caller_limited_to_namespaces_reads_no_path_of_the_server() {
        let limited = Caller { namespaces: Some(vec!["app".into()]), ..Caller::default() };
        for error in [
            || Error::Store(StoreError::Missing { path: "/srv/app/.tamis".into() }),
            || Error::Store(StoreError::Busy { path: "/srv/app/.tamis/write.lock".into(), holder: "process 7".into() }),
            || Error::Path { path: "/srv/app".into(), reason: "the directory is gone".into() },
            || Error::Model { model: "e5".into(), reason: "/srv/models/e5: no such directory".into() },
            || Error::View { reason: "/srv/views/a.sql: no such table".into() },
        ] {
            let text = Refused::from(error()).text(&limited);
            assert!(!text.contains("/srv") && text.len() > 20, "{text}");
            assert!(Refused::from(error()).text(&Caller::default()).contains("/srv"));
            let problem = Problem::from(error()).for_caller(&limited);
            assert!(!problem.detail.contains("/srv"), "{problem:?}");
        }
    }
}
