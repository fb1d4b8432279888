//! The trees of namespaces.

use std::path::Path;

use crate::error::StoreError;
use crate::session::{Row, Session, all, read, values};
use crate::tree::Tree;

/// Returns those trees that are not the ones of their namespaces yet. Another one in the place of a tree is an error, unless it has
/// `moved`. `store` is where the namespaces are.
pub(crate) async fn new_trees<'t, E: From<StoreError>>(
    session: &dyn Session<E>,
    trees: &'t [Tree],
    moved: bool,
    store: &Path,
) -> Result<Vec<&'t Tree>, E> {
    let names: Vec<String> = trees.iter().map(|tree| tree.namespace.clone()).collect();
    let select = format!(
        "SELECT namespace, root, machine FROM namespaces WHERE namespace {} AND root IS NOT NULL",
        session.one_of(1)
    );
    let tree = |row: &mut Row| Ok(read!(row => Tree { namespace, root, machine }));
    let known = all(session, &select, values![names], tree).await?;
    let mut new: Vec<&Tree> = Vec::new();
    for tree in trees {
        match known.iter().chain(new.iter().copied()).find(|known| known.namespace == tree.namespace) {
            Some(known) if known.is(tree) => {}
            Some(known) if !moved => return Err(StoreError::other_tree(store, tree, known).into()),
            _ => new.push(tree),
        }
    }
    Ok(new)
}
