//! The usage log in PostgreSQL, from all servers: how the log of [`crate::usage`] reads and writes there.
//!
//! What a search waits for gives up soon, and does not wait for the server's disk. Feedback waits and is on the disk when it is
//! acknowledged.

use std::time::Duration;

use tokio_postgres::error::SqlState;

use super::PostgresStore;
use super::connection::Connections;
use super::failure::Failure;
use crate::error::{Result, StoreError};
use crate::session::Session;
use crate::store::{Usage, UsageLog};
use crate::usage::{Database, IMPATIENT, PATIENT, Patience};

/// The longest that one statement may take while a search waits. It protects a search from an overloaded server; locks are waited for
/// no longer than [`IMPATIENT`].
const STATEMENT: Duration = Duration::from_millis(500);

/// The longest that a search waits for its recording, also when the server does not answer.
const WHOLE: Duration = Duration::from_secs(1);

impl Usage for PostgresStore {
    fn usage(&self) -> Result<&dyn UsageLog> {
        Ok(&self.connections)
    }
}

/// The log needs nothing but connections.
impl Database for Connections {
    type Error = Failure;

    fn ask<T: Default>(&self, work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>) -> Result<T> {
        self.ask(async |connection| work(&self.session(connection)).await)
    }

    fn read<T: Default>(&self, work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>) -> Result<T> {
        self.read(async |transaction| work(&self.session(transaction)).await)
    }

    fn write<T>(
        &self,
        patience: Patience,
        work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>,
    ) -> Result<T> {
        match patience {
            Patience::Short => impatiently(self, work),
            Patience::Long => {
                let limit = format!("SET LOCAL lock_timeout = {}", PATIENT.as_millis());
                self.write(async |transaction| {
                    let written = async {
                        transaction.batch_execute(&limit).await?;
                        work(&self.session(transaction)).await
                    };
                    written.await.map_err(|failure| busy(self, failure))
                })
            }
        }
    }

    /// A user who does not own the tables leaves it to the server.
    fn shrink(&self) {
        // Behind a pooler it would wait without a limit.
        let vacuum =
            "VACUUM (FULL) tamis.usage_searches, tamis.usage_judgements, tamis.usage_openings, tamis.usage_quality";
        if self.has_own_sessions() {
            let limit = format!("SET lock_timeout = {}", PATIENT.as_millis());
            let _ = self.wait(self.run_outside(&limit, vacuum));
        }
    }
}

/// Writes in one transaction, without waiting for anybody. What it commits may be lost if the server breaks down in the next moments.
fn impatiently<T>(
    connections: &Connections,
    work: impl AsyncFn(&dyn Session<Failure>) -> Result<T, Failure>,
) -> Result<T> {
    let settings = format!(
        "SET LOCAL lock_timeout = {}; SET LOCAL statement_timeout = {}; SET LOCAL synchronous_commit = off",
        IMPATIENT.as_millis(),
        STATEMENT.as_millis()
    );
    connections.wait(async {
        let written = connections.write_within(IMPATIENT, async |transaction| {
            let session = connections.session(transaction);
            let set = async { Ok::<_, Failure>(transaction.batch_execute(&settings).await?) };
            // The first statement follows the settings without waiting for the answer to them.
            Ok(tokio::try_join!(biased; set, work(&session))?.1)
        });
        match tokio::time::timeout(WHOLE, written).await {
            Ok(result) => result.map_err(|failure| busy(connections, failure)),
            Err(_) => Err(stayed_locked(connections)),
        }
    })
}

/// The failure, or [`StoreError::Busy`] if somebody held the tables for too long.
fn busy(connections: &Connections, failure: Failure) -> Failure {
    match &failure {
        Failure::Server(error)
            if error
                .code()
                .is_some_and(|code| [SqlState::LOCK_NOT_AVAILABLE, SqlState::QUERY_CANCELED].contains(code)) =>
        {
            stayed_locked(connections)
        }
        _ => failure,
    }
}

fn stayed_locked(connections: &Connections) -> Failure {
    let holder = "another process".to_owned();
    StoreError::Busy { path: connections.address().into(), holder }.into()
}

#[cfg(test)]
mod tests {
    use crate::postgres::session::LABELS;
    use crate::postgres::tests::{TestStore, store};
    use crate::usage::contract_tests::{TestLog, at_last, contract, opening, quality, search, shown};
    use crate::usage::{Database, IMPATIENT, Patience, rows};
    use crate::{Judgement, StoreError, Usage, UsageLog};
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    impl TestLog for TestStore {
        fn log(&self) -> &dyn UsageLog {
            self.usage().unwrap()
        }

        fn look_from_elsewhere(&self, look: &dyn Fn(&dyn UsageLog)) {
            look(self.another().usage().unwrap());
        }

        fn run(&self, _sqlite: &str, postgres: &str) {
            self.execute(postgres);
        }

        fn purge(&self, retained: i64) -> u64 {
            let purged = Database::write(&self.connections, Patience::Long, async |session| {
                rows::old_searches(session, retained, i64::MAX).await
            });
            purged.unwrap()
        }

        fn purge_quality(&self, last: i64) -> u64 {
            let purged = Database::write(&self.connections, Patience::Short, async |session| {
                rows::old_quality(session, last).await
            });
            purged.unwrap()
        }
    }

    fn on_a_server(test: &dyn Fn(&dyn TestLog)) {
        if let Some(store) = store() {
            test(&store);
        }
    }

    mod as_every_log {
        super::contract!(super::on_a_server);
    }

    /// A lock of the tables, as a change of them takes it, until the sender is dropped.
    fn hold<'s>(scope: &'s std::thread::Scope<'s, '_>, store: &'s TestStore, lock: &'static str) -> mpsc::Sender<()> {
        let (release, released) = mpsc::channel();
        let (hold, held) = mpsc::channel();
        scope.spawn(move || {
            let connections = &store.connections;
            let locked = connections.write(async |transaction| {
                transaction.batch_execute(lock).await?;
                hold.send(()).unwrap();
                tokio::task::block_in_place(|| released.recv()).unwrap_err();
                Ok(())
            });
            locked.unwrap();
        });
        held.recv().unwrap();
        release
    }

    #[test]
    fn a_locked_log_drops_a_record_soon_and_judging_waits() {
        let Some(store) = store() else { return };
        let log = store.usage().unwrap();
        at_last(|| log.record(&shown("aaaa", "one", &[0])));
        std::thread::scope(|scope| {
            let release = hold(scope, &store, "LOCK TABLE usage_searches, usage_openings IN EXCLUSIVE MODE");
            for write in [
                &|| log.record_query(&search("bbbb", &["p"]), Some(&quality(1))),
                &|| log.record_opened(&opening("one", &["p0"], 0)).map(drop),
                &|| log.narrow_shown("aaaa", &[]),
            ] as [&dyn Fn() -> crate::Result<()>; 3]
            {
                let begun = Instant::now();
                let refused = write().unwrap_err();
                assert!(matches!(refused, StoreError::Busy { .. }), "{refused}");
                // The rest is for a machine with much else to do.
                assert!((IMPATIENT..10 * IMPATIENT).contains(&begun.elapsed()), "{:?}", begun.elapsed());
            }
            assert!(log.search("aaaa").unwrap().is_some(), "reading goes on");
            let judging = scope.spawn(|| log.judge("aaaa", &[("p0", true)], 1));
            std::thread::sleep(3 * IMPATIENT);
            assert!(!judging.is_finished());
            drop(release);
            assert!(judging.join().unwrap().unwrap().is_some());
        });
        assert_eq!(log.quality(None, None, 9).unwrap(), [], "neither the search nor its quality");
        at_last(|| log.record(&search("bbbb", &["p"])));
    }

    #[test]
    fn a_search_does_not_wait_for_a_connection() {
        let Some(store) = store() else { return };
        let log = store.usage().unwrap();
        let connections = &store.connections;
        let all = connections.wait(async {
            let mut all = Vec::new();
            for _ in 0..crate::postgres::connection::most_connections() {
                all.push(connections.session_of_its_own().await?);
            }
            Ok(all)
        });
        let begun = Instant::now();
        assert!(matches!(log.record(&search("aaaa", &["p"])), Err(StoreError::Busy { .. })));
        assert!((IMPATIENT..10 * IMPATIENT).contains(&begun.elapsed()), "{:?}", begun.elapsed());
        drop(all);
        at_last(|| log.record(&search("aaaa", &["p"])));
    }

    #[test]
    fn servers_record_and_judge_at_the_same_time_and_learn_from_each_other() {
        let Some(store) = store() else { return };
        let other = store.another();
        let logs = [store.usage().unwrap(), other.usage().unwrap()];
        logs[0].record(&search("both", &["p0", "p1"])).unwrap();
        let taken: usize = std::thread::scope(|scope| {
            let servers = [0, 1].map(|server| {
                scope.spawn(move || {
                    let log = logs[server];
                    let mut taken = 0;
                    for number in 0..40 {
                        let id = format!("{server}-{number}");
                        at_last(|| log.record(&search(&id, &["p"])));
                        log.judge(&id, &[("p", number % 2 == 0)], number).unwrap();
                        log.judge("both", &[("p0", server == 0), (&format!("of {server}"), true)], number).unwrap();
                        // Both want this identifier, each in another namespace, and one gets it.
                        let same = search(&format!("same-{number}"), &["p"]);
                        let wanted = crate::RecordedSearch { namespace: server.to_string(), ..same };
                        taken += usize::from(matches!(log.record(&wanted), Err(StoreError::Invalid { .. })));
                    }
                    taken
                })
            });
            servers.into_iter().map(|server| server.join().unwrap()).sum()
        });
        assert!(taken <= 40);
        let same: usize =
            logs[0].search_ids(None, None, 999).unwrap().iter().filter(|id| id.starts_with("same")).count();
        assert!(same <= 40, "{same}");
        for log in logs {
            assert_eq!((log.judged().unwrap().len(), log.judgement_version().unwrap()), (81, (240, 240)));
        }
        let both: Vec<Judgement> = logs[1].judgements("both").unwrap();
        assert_eq!(both.len(), 3, "the last of each passage");
        assert!(both.iter().all(|judgement| judgement.in_pool == (judgement.passage == "p0")));
    }

    /// An identifier is taken also while its search is still being recorded, and in every namespace.
    #[test]
    fn an_identifier_that_is_being_recorded_is_waited_for() {
        let Some(store) = store() else { return };
        let log = store.usage().unwrap();
        at_last(|| log.record(&search("aaaa", &[])));
        let elsewhere = crate::RecordedSearch { namespace: "there".into(), ..search("aaaa", &[]) };
        let refused = log.record(&elsewhere).unwrap_err();
        assert!(matches!(&refused, StoreError::Invalid { .. }), "{refused}");
        assert!(refused.to_string().contains("aaaa"), "{refused}");
        std::thread::scope(|scope| {
            let lock = "SELECT pg_advisory_xact_lock(hashtextextended('bbbb', 8386104280808947714))";
            let release = hold(scope, &store, lock);
            assert!(matches!(log.record(&search("bbbb", &[])), Err(StoreError::Busy { .. })));
            at_last(|| log.record(&search("cccc", &[])));
            drop(release);
        });
        at_last(|| log.record(&search("bbbb", &[])));
    }

    /// The numbers of judgements ascend in the order in which they become visible, or a version would stand for two states.
    #[test]
    fn judgements_become_visible_in_the_order_of_their_numbers() {
        let Some(store) = store() else { return };
        let log = store.usage().unwrap();
        at_last(|| log.record(&search("aaaa", &["p"])));
        std::thread::scope(|scope| {
            let release = hold(scope, &store, LABELS);
            let judging = scope.spawn(|| log.judge("aaaa", &[("p", true)], 1));
            std::thread::sleep(2 * IMPATIENT);
            assert!(!judging.is_finished() && log.judgement_version().unwrap().0 == 0);
            at_last(|| log.record(&search("bbbb", &["p"])));
            drop(release);
            judging.join().unwrap().unwrap();
        });
        assert!(log.judged().unwrap().len() == 1);
    }

    #[test]
    fn a_search_is_kept_when_another_server_purges_while_it_is_judged() {
        let Some(store) = store() else { return };
        let log = store.usage().unwrap();
        for id in ["aaaa", "bbbb"] {
            at_last(|| log.record(&search(id, &["p"])));
        }
        std::thread::scope(|scope| {
            let judge = "UPDATE usage_searches SET judged = true WHERE id = 'aaaa'";
            let release = hold(scope, &store, judge);
            let purging = scope.spawn(|| store.purge(0));
            std::thread::sleep(Duration::from_millis(100));
            assert!(!purging.is_finished());
            drop(release);
            assert_eq!(purging.join().unwrap(), 1);
        });
        assert!(log.search("aaaa").unwrap().is_some() && log.search("bbbb").unwrap().is_none());
    }

    #[test]
    fn an_opening_of_a_search_that_is_being_deleted_adds_nothing() {
        let Some(store) = store() else { return };
        let log = store.usage().unwrap();
        at_last(|| log.record(&shown("aaaa", "one", &[0])));
        std::thread::scope(|scope| {
            let release = hold(scope, &store, "DELETE FROM usage_searches");
            let opening = scope.spawn(|| log.record_opened(&opening("one", &["p0"], 0)));
            std::thread::sleep(IMPATIENT / 5);
            drop(release);
            assert!(matches!(opening.join().unwrap(), Ok(0) | Err(StoreError::Busy { .. })));
        });
    }

    #[test]
    fn a_purge_writes_the_tables_anew() {
        let Some(store) = store() else { return };
        let log = store.usage().unwrap();
        at_last(|| log.record_query(&search("aaaa", &["p"]), Some(&quality(1))));
        let file = |table: &str| store.rows(&format!("SELECT pg_relation_filenode('{table}')::text"));
        let before = ["usage_searches", "usage_quality"].map(file);
        log.purge_telemetry(false).unwrap();
        let after = ["usage_searches", "usage_quality"].map(file);
        assert!(before[0] != after[0] && before[1] != after[1], "deleted rows stay in no file");
    }
}
