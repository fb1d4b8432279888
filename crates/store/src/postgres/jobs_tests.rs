//! The queue of jobs with many workers, with workers that end in the middle, and with jobs that fail.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::testing::{self, TestStore};
use super::{JobEnd, JobState, MOST_JOB_FAILURES, NextJob, PostgresStore, TakenJob};
use crate::error::Result;

/// Takes a job. The one before it may still be giving back its lock.
fn taken(store: &PostgresStore) -> Box<TakenJob> {
    let started = Instant::now();
    loop {
        match store.take_job("worker").unwrap() {
            NextJob::Taken(job) => return job,
            other => assert!(started.elapsed() < Duration::from_secs(20), "{other:?}"),
        }
    }
}

fn add(store: &PostgresStore, namespace: &str, path: &str, moved: bool) -> Result<bool> {
    store.add_jobs(&[(namespace.to_owned(), path.to_owned())], moved).map(|added| added[0])
}

fn states(store: &PostgresStore) -> Vec<(String, JobState)> {
    store.jobs().unwrap().into_iter().map(|job| (job.namespace, job.state)).collect()
}

/// Ends the pauses after failures.
fn hurry(store: &TestStore) {
    store.execute("UPDATE tamis.jobs SET not_before_ms = 0");
}

#[test]
fn ten_workers_share_the_jobs_and_never_have_two_of_one_namespace() {
    const JOBS: usize = 60;
    let Some(store) = testing::store() else { return };
    let namespaces: Vec<String> = (0..JOBS / 3).map(|number| format!("n{number}")).collect();
    for namespace in &namespaces {
        assert!(add(&store, namespace, "/trees/x", false).unwrap());
        assert!(!add(&store, namespace, "/trees/x", false).unwrap(), "it waits already");
    }
    let done = Mutex::new(BTreeMap::<String, usize>::new());
    let running: BTreeMap<&str, AtomicBool> =
        namespaces.iter().map(|name| (name.as_str(), AtomicBool::new(false))).collect();
    std::thread::scope(|scope| {
        for worker in 0..10 {
            let (store, done, running) = (store.another(), &done, &running);
            scope.spawn(move || {
                loop {
                    match store.take_job(&format!("worker {worker}")).unwrap() {
                        NextJob::Taken(job) => {
                            let namespace = job.job.namespace.clone();
                            let alone = &running[namespace.as_str()];
                            assert!(!alone.swap(true, Ordering::SeqCst), "{namespace} runs twice");
                            let count = {
                                let mut done = done.lock().unwrap();
                                let count = done.entry(namespace.clone()).or_default();
                                *count += 1;
                                *count
                            };
                            // Work that comes while a job of the namespace runs.
                            if count < 3 {
                                assert!(add(&store, &namespace, "/trees/x", false).unwrap());
                            }
                            std::thread::sleep(Duration::from_millis(3));
                            alone.store(false, Ordering::SeqCst);
                            assert_eq!(store.end_job(&job, JobEnd::Done).unwrap(), Some(JobState::Done));
                        }
                        NextJob::Wait => std::thread::sleep(Duration::from_millis(5)),
                        NextJob::Empty => break,
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap();
    assert_eq!(done.values().sum::<usize>(), JOBS);
    assert!(done.values().all(|count| *count == 3), "{done:?}");
    // One that ended is kept of each namespace.
    let left = states(&store);
    assert_eq!(left.len(), namespaces.len());
    assert!(left.iter().all(|(_, state)| *state == JobState::Done));
}

#[test]
fn the_job_of_a_lost_worker_is_free_at_once_and_the_lost_one_cannot_end_it() {
    let Some(store) = testing::store() else { return };
    add(&store, "one", "/trees/one", false).unwrap();
    let lost = taken(&store);
    assert!(matches!(store.another().take_job("other").unwrap(), NextJob::Wait));
    store.execute(
        "SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted \
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    let next = taken(&store.another());
    assert_eq!(next.job.job, lost.job.job);
    assert_eq!(store.end_job(&lost, JobEnd::Failed("too late")).unwrap(), None);
    assert_eq!(store.end_job(&next, JobEnd::Done).unwrap(), Some(JobState::Done));
    assert_eq!(states(&store), [("one".to_owned(), JobState::Done)]);
}

#[test]
fn a_job_that_fails_is_tried_again_after_a_pause_and_then_given_up() {
    let Some(store) = testing::store() else { return };
    add(&store, "one", "/trees/one", false).unwrap();
    for failure in 1..=MOST_JOB_FAILURES {
        let job = taken(&store);
        let end = if failure < MOST_JOB_FAILURES { JobState::Waiting } else { JobState::Failed };
        assert_eq!(store.end_job(&job, JobEnd::Failed("the tree is\0 gone")).unwrap(), Some(end));
        drop(job);
        let listed = store.jobs().unwrap().remove(0);
        assert_eq!((listed.failures, listed.reason.as_deref()), (failure, Some("the tree is gone")));
        if failure < MOST_JOB_FAILURES {
            assert!(matches!(store.take_job("worker").unwrap(), NextJob::Wait), "it pauses");
            hurry(&store);
        }
    }
    assert_eq!(states(&store), [("one".to_owned(), JobState::Failed)]);
    assert!(matches!(store.take_job("worker").unwrap(), NextJob::Empty));
    // It can be added again, and the next end replaces the failed one.
    assert!(add(&store, "one", "/trees/one", false).unwrap());
    let job = taken(&store);
    assert_eq!(store.end_job(&job, JobEnd::Stopped).unwrap(), Some(JobState::Waiting));
    drop(job);
    let job = taken(&store);
    assert_eq!(store.end_job(&job, JobEnd::Done).unwrap(), Some(JobState::Done));
    assert_eq!(states(&store), [("one".to_owned(), JobState::Done)]);
}

#[test]
fn a_broken_connection_is_no_failure_of_the_job() {
    let Some(store) = testing::store() else { return };
    add(&store, "one", "/trees/one", false).unwrap();
    let job = taken(&store);
    store.execute(
        "SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted \
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    // Its end arrives a moment later.
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(store.end_job(&job, JobEnd::Failed("connection closed")).unwrap(), Some(JobState::Waiting));
    let listed = store.jobs().unwrap().remove(0);
    assert_eq!((listed.state, listed.failures, listed.reason), (JobState::Waiting, 0, None));
    drop(taken(&store));
}

#[test]
fn a_job_that_ends_its_workers_is_given_up() {
    let Some(store) = testing::store() else { return };
    add(&store, "one", "/trees/one", false).unwrap();
    store.execute("UPDATE tamis.jobs SET state = 'running', lost = 2, worker = 'mill:7'");
    assert!(matches!(store.take_job("worker").unwrap(), NextJob::Empty));
    let listed = store.jobs().unwrap().remove(0);
    assert_eq!(listed.state, JobState::Failed);
    assert!(listed.reason.unwrap().contains("the last one mill:7"));
}

#[test]
fn a_namespace_is_not_given_to_another_tree_by_accident() {
    let Some(store) = testing::store() else { return };
    add(&store, "api", "/trees/a/api", false).unwrap();
    let refused = add(&store, "api", "/trees/b/api", false).unwrap_err().to_string();
    assert!(refused.contains("/trees/a/api") && refused.contains("moved"), "{refused}");
    let job = taken(&store);
    assert!(add(&store, "api", "/trees/b/api", false).is_err(), "while it runs");
    assert!(add(&store, "api", "/trees/b/api", true).unwrap());
    assert_eq!(store.end_job(&job, JobEnd::Failed("moved away")).unwrap(), Some(JobState::Failed), "another one waits");
    drop(job);
    assert!(!add(&store, "api", "/trees/b/api", false).unwrap(), "the new place is known");
    assert_eq!(taken(&store).job.path, "/trees/b/api");
}
