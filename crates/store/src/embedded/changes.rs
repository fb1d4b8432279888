//! Changing documents.

use std::time::Duration;

use super::EmbeddedStore;
use crate::content::{Content, new_trees};
use crate::error::Result;
use crate::namespace::NewNamespace;
use crate::record::{Applied, Change};
use crate::store::{Changes, Writing};
use crate::tree::Tree;

impl Changes for EmbeddedStore {
    fn writer(&self) -> Result<Writing<'_>> {
        Ok(Writing::new(self.hold()?))
    }

    fn wait_to_write(&self, patience: Duration, waiting: &mut dyn FnMut(&str) -> bool) -> Result<Writing<'_>> {
        self.check_writable()?;
        let hold = self.lock.wait(patience, waiting)?;
        self.database.check_replaced()?;
        Ok(Writing::new(hold))
    }

    fn wait_to_embed(&self, patience: Duration) -> Result<Writing<'_>> {
        self.check_writable()?;
        let hold = self.embedding.wait(patience, &mut |_| true)?;
        self.database.check_replaced()?;
        Ok(Writing::new(hold))
    }

    fn is_embedding(&self) -> bool {
        self.embedding.is_held()
    }

    fn put_namespace(&self, namespace: &NewNamespace) -> Result<()> {
        self.writing(|database| database.put_namespace(namespace))
    }

    fn claim_trees(&self, trees: &[Tree], moved: bool) -> Result<()> {
        // Every search comes through here, and nearly none has anything to write.
        if self.ask(async |session| new_trees(session, trees, true, self.database.path()).await)?.is_empty() {
            return Ok(());
        }
        self.writing(|database| database.claim_trees(trees, moved))
    }

    fn remove_namespace(&self, name: &str) -> Result<Applied> {
        self.writing(|database| database.remove_namespace(name))
    }

    fn apply(&self, changes: &[Change]) -> Result<Applied> {
        self.writing(|database| database.apply(changes))
    }

    fn remove_origin(&self, origin: &str, namespaces: &[String]) -> Result<Applied> {
        self.writing(|database| database.remove_origin(origin, namespaces))
    }

    fn set_dates(&self, namespace: &str, dates: &[(String, i64)]) -> Result<u64> {
        self.writing(|database| database.set_dates(namespace, dates))
    }
}
