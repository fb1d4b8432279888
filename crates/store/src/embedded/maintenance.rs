//! Publishing, checking and pruning.

use super::{EmbeddedStore, check};
use crate::error::Result;
use crate::mutex::lock;
use crate::report::{Findings, Progress, Pruned, Summary};
use crate::store::{Maintenance, Serving};

impl EmbeddedStore {
    fn publish_all(&self, rebuild: bool, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        let _hold = self.hold()?;
        let _publishing = lock(&self.publishing);
        let lexical = self.lexical.catch_up(&self.database, rebuild, progress)?;
        let vectors = match self.semantic.publish(&self.database, rebuild, progress) {
            Ok(vectors) => vectors,
            Err(error) => {
                // The lexical index is published all the same.
                self.database.published(lexical, 0)?;
                return Err(error);
            }
        };
        self.database.published(lexical.max(vectors.highest), lexical.min(vectors.lowest))?;
        // The next publication tidies up as well.
        let _ = self.database.tidy();
        Ok(())
    }
}

impl Maintenance for EmbeddedStore {
    fn publish(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        self.publish_all(false, progress)
    }

    fn change_number(&self) -> Result<u64> {
        self.database.seq()
    }

    fn summary(&self) -> Result<Summary> {
        check::summary(&self.database, &self.lexical, &self.semantic)
    }

    fn check(&self) -> Result<Findings> {
        check::check(&self.database, &self.lexical, &self.semantic)
    }

    fn mend(&self, progress: &mut dyn FnMut(Progress) -> Result<()>) -> Result<Findings> {
        let _hold = self.hold()?;
        let found = self.check()?;
        let rebuild = found.problems.iter().any(|problem| problem.mendable);
        self.publish_all(rebuild, progress)?;
        self.check()
    }

    fn prune(&self) -> Result<Pruned> {
        self.writing(|database| database.prune())
    }

    fn check_replaced(&self) -> Result<()> {
        self.database.check_replaced()
    }
}

impl Serving for EmbeddedStore {}
