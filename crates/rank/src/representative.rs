//! The passage that stands for an entry.

/// The least match of a query's names with a symbol at which its definition is shown from its head; see
/// [`QueryNames::match_score`](crate::QueryNames::match_score).
pub const NAMED: f64 = 0.3;

/// The share of the best value at which the head of a definition stands for the part that is better.
const NEAR: f64 = 0.9;

/// A passage of an entry, as the choice of its representative reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The value that ranks it.
    pub value: f64,
    /// True for an exact find.
    pub exact: bool,
    /// False for a text that says nothing by itself; see [`is_heading_alone`](crate::is_heading_alone),
    /// [`is_signature_alone`](crate::is_signature_alone), [`is_preamble_alone`](crate::is_preamble_alone) and
    /// [`is_empty_comment`](crate::is_empty_comment).
    pub says: bool,
    /// The position in the entry of the head of the definition that it continues; `None` for a head and for other text.
    pub head: Option<usize>,
    /// True if the query names its symbol.
    pub named: bool,
}

/// Returns the position of the passage that stands for an entry. `passages` are those of the entry, best first, and `background` is the
/// value of a passage that has nothing to do with the query. O(n).
///
/// It is the best passage, with three exceptions. An exact find comes before the others. A text that says nothing by itself stands only
/// for an entry without others. The head of a definition, which has its signature, stands for a later part of it if the query names the
/// definition or the head is nearly as good.
///
/// ```
/// use tamis_rank::{Standing, representative};
///
/// let passage = Standing { value: 0.8, exact: false, says: true, head: None, named: false };
/// let heading = Standing { says: false, ..passage };
/// let body = Standing { head: Some(2), ..passage };
/// let head = Standing { value: 0.78, ..passage };
/// assert_eq!(representative(&[heading, body, head], 0.3), 2);
/// ```
pub fn representative(passages: &[Standing], background: f64) -> usize {
    let first = |counts: fn(&Standing) -> bool| passages.iter().position(counts);
    let best = first(|one| one.exact).or_else(|| first(|one| one.says)).unwrap_or(0);
    let Some(part) = passages.get(best) else { return 0 };
    let Some((at, head)) = part.head.and_then(|at| Some((at, passages.get(at)?))) else { return best };
    let above = |one: &Standing| if one.value.is_finite() { (one.value - background).max(0.0) } else { 0.0 };
    let near = above(head) >= NEAR * above(part);
    let may = head.says && (head.exact || !part.exact);
    if may && (part.named || near) { at } else { best }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PASSAGE: Standing = Standing { value: 0.8, exact: false, says: true, head: None, named: false };

    #[test]
    fn the_best_passage_stands_for_an_entry_without_reasons_against() {
        assert_eq!(representative(&[PASSAGE, PASSAGE], 0.0), 0);
        assert_eq!(representative(&[], 0.0), 0);
        assert_eq!(representative(&[Standing { says: false, ..PASSAGE }; 2], 0.0), 0, "nothing else is there");
        let heading = Standing { says: false, exact: true, ..PASSAGE };
        assert_eq!(representative(&[heading, PASSAGE], 0.0), 0, "it is what was asked for");
    }

    #[test]
    fn a_head_stands_for_its_definition_if_it_is_near_or_named() {
        let part = Standing { head: Some(1), ..PASSAGE };
        let head = |value: f64| Standing { value, ..PASSAGE };
        assert_eq!(representative(&[part, head(0.75)], 0.3), 1);
        assert_eq!(representative(&[part, head(0.5)], 0.3), 0, "the part is much better");
        assert_eq!(representative(&[Standing { named: true, ..part }, head(0.1)], 0.3), 1);
        let exact = Standing { exact: true, named: true, ..part };
        assert_eq!(representative(&[exact, head(0.79)], 0.3), 0, "the head is not what was found");
        assert_eq!(representative(&[exact, Standing { exact: true, ..head(0.5) }], 0.3), 1);
        assert_eq!(representative(&[part, Standing { says: false, ..head(0.79) }], 0.3), 0);
    }

    proptest! {
        #[test]
        fn what_stands_for_an_entry_says_something_if_anything_does(
            passages in prop::collection::vec((0.0f64..1.0, any::<bool>(), prop::option::of(0usize..8), any::<bool>()), 1..8),
        ) {
            let standing = |&(value, says, head, named): &(f64, bool, Option<usize>, bool)| {
                Standing { value, exact: false, says, head, named }
            };
            let passages: Vec<Standing> = passages.iter().map(standing).collect();
            let chosen = representative(&passages, 0.2);
            prop_assert!(passages[chosen].says || passages.iter().all(|one| !one.says));
        }
    }
}
