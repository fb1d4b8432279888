//! Exact finds: the definition of the name that a query asks for, the text of the message that it repeats, and the file that it
//! names.
//!
//! Scores say how much a passage has to do with a query. An exact find is what was asked for, and comes first.

/// Most exact finds that come first. Where more define a name, it says too little to put them all before what fits the rest of
/// the query.
pub const MOST_EXACT: usize = 8;

/// An exact find, better ones greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExactFind {
    /// A passage of a file that the query names: `src/retry.rs`.
    File,
    /// The words of a message in a text for people: a page that explains it, a comment.
    Mention,
    /// A constant or a module of the name.
    Constant,
    /// The text that makes a message.
    Message,
    /// A type, function, method or macro of the name.
    Definition,
    /// Such a definition in the file of that name: `Router` in `router.rs`.
    OwnFile,
}

impl ExactFind {
    /// Its name: `file`, `mention`, `constant`, `message` or `definition`.
    pub fn name(self) -> &'static str {
        match self {
            ExactFind::File => "file",
            ExactFind::Mention => "mention",
            ExactFind::Constant => "constant",
            ExactFind::Message => "message",
            ExactFind::Definition | ExactFind::OwnFile => "definition",
        }
    }
}

/// Returns the positions of the exact finds that come first, in their order: better ones first, then by value. Those of ordinary
/// text (`main`) leave no place to those of tests, examples and copies, unless the query names their file. O(n log n).
///
/// ```
/// use tamis_rank::{ExactFind, put_first};
///
/// let finds = [None, Some(ExactFind::Constant), Some(ExactFind::Definition), Some(ExactFind::Definition)];
/// assert_eq!(put_first(&finds, &[true, true, true, false], &[0.9, 0.5, 0.3, 0.8]), [2, 1]);
/// ```
pub fn put_first(finds: &[Option<ExactFind>], main: &[bool], values: &[f64]) -> Vec<usize> {
    let found = |at: &usize| finds[*at].is_some();
    let all = || (0..finds.len().min(main.len()).min(values.len())).filter(found);
    let any_main = all().any(|at| main[at]);
    let is_named = |at: usize| finds[at] == Some(ExactFind::File);
    let mut first: Vec<usize> = all().filter(|&at| main[at] || !any_main || is_named(at)).collect();
    let value = |at: usize| if values[at].is_finite() { values[at] } else { f64::NEG_INFINITY };
    first.sort_by(|&a, &b| finds[b].cmp(&finds[a]).then(value(b).total_cmp(&value(a))));
    first.truncate(MOST_EXACT);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_definition_in_the_file_of_its_name_comes_first() {
        let finds = [ExactFind::Definition, ExactFind::Constant, ExactFind::OwnFile].map(Some);
        assert_eq!(put_first(&finds, &[true; 3], &[0.9, 0.8, 0.1]), [2, 0, 1]);
    }

    #[test]
    fn tests_come_first_only_where_nothing_else_does() {
        let finds = [Some(ExactFind::Message), Some(ExactFind::Mention)];
        assert_eq!(put_first(&finds, &[false, true], &[1.0, 0.1]), [1]);
        assert_eq!(put_first(&finds, &[false, false], &[0.1, 1.0]), [0, 1]);
        assert_eq!(put_first(&[Some(ExactFind::Mention), Some(ExactFind::File)], &[true, false], &[0.1, 1.0]), [0, 1]);
        assert!(put_first(&[], &[], &[]).is_empty());
    }

    proptest! {
        #[test]
        fn finds_come_best_first_and_nothing_else_does(values in prop::collection::vec((0u8..4, any::<bool>(), -1.0f64..1.0), 0..40)) {
            let kinds = [ExactFind::Mention, ExactFind::Constant, ExactFind::Message];
            let finds: Vec<Option<ExactFind>> = values.iter().map(|(kind, ..)| kinds.get(usize::from(*kind)).copied()).collect();
            let main: Vec<bool> = values.iter().map(|(_, main, _)| *main).collect();
            let values: Vec<f64> = values.iter().map(|(.., value)| *value).collect();
            let first = put_first(&finds, &main, &values);
            prop_assert!(first.len() <= MOST_EXACT && first.iter().all(|&at| finds[at].is_some()));
            prop_assert!(first.windows(2).all(|pair| finds[pair[0]] >= finds[pair[1]]));
            prop_assert_eq!(first.is_empty(), finds.iter().all(Option::is_none));
        }
    }
}
