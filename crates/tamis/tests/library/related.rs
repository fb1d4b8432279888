//! Related passages, for a caller that gives up. What is found is a transcript of the command.

use crate::support::{Tree, stop_everywhere};
use tamis::related::{RelatedBy, RelatedRequest};

#[test]
fn a_call_ends_wherever_it_is_given_up_and_names_nothing_that_may_not_be_read() {
    let tree = Tree::new(&[
        ("src/door.rs", "/// Opens the door.\npub fn unlock() {}\n"),
        ("src/house.rs", "/// Goes in.\npub fn enter() {\n    unlock();\n}\n\npub fn leave() {\n    unlock();\n}\n"),
        ("src/yard.rs", "use crate::door::unlock as free;\n\npub fn exit() {\n    free();\n}\n"),
    ]);
    let index = tree.indexed(&[]);
    let request = RelatedRequest { by: Some(RelatedBy::Reference), ..RelatedRequest::new("src/door.rs:2") };
    let used = index.related().find(&request, &()).expect("found").referenced_by;
    let resolved = used.iter().filter(|one| one.resolved).filter_map(|one| one.passage.symbol.as_deref());
    assert_eq!(resolved.collect::<Vec<_>>(), ["exit"], "by its alias; the others import nothing of that name");
    let users = used.len();
    assert!(stop_everywhere(|observer| index.related().find(&request, observer)) > users);

    let id = index.related().find(&request, &()).expect("found").passage.id;
    let ask = |wanted: &str, allowed: &str| {
        let asker = tamis::search::Asker::with_rights(Some(vec![allowed.to_owned()]));
        index.related().find(&RelatedRequest { asker, ..RelatedRequest::new(wanted) }, &())
    };
    assert!(ask(&id, index.namespace()).is_ok());
    let refused = |wanted: &str| ask(wanted, "another").expect_err("not readable").to_string().replace(wanted, "");
    assert_eq!(refused(&id), refused("0123456789ab"));
    assert!(ask("src/door.rs:2", "another").is_err());
}
