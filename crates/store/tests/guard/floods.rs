//! Many statements at once, good ones among bad ones.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::*;

#[test]
fn good_statements_are_answered_among_bad_ones() {
    let pair = pair();
    let before = contents(pair.shared.directory());
    let bad = [
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t",
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t ORDER BY -x",
        "SELECT json_group_array(a.text) FROM claims a, claims b, claims c, claims d, claims e",
        "DROP TABLE claims",
        "SELECT count(*) FROM documents",
        "SELECT load_extension('x')",
        "nonsense",
    ];
    let answered = AtomicUsize::new(0);
    let refused = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (pair, answered, refused) = (&pair, &answered, &refused);
            scope.spawn(move || {
                for round in 0..6 {
                    if (thread + round) % 2 == 0 {
                        let sql = "SELECT count(*) FROM claims c JOIN edges e ON e.target_id = c.id";
                        assert_eq!(rows(&pair.shared, sql), [[tamis_store::SqlValue::Integer(25)]]);
                        answered.fetch_add(1, Ordering::Relaxed);
                    } else {
                        let sql = bad[(thread * 6 + round) % bad.len()];
                        ask_within(&pair.shared, sql, 100).expect_err(sql);
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!((answered.into_inner(), refused.into_inner()), (24, 24));
    assert!(before == contents(pair.shared.directory()), "the database changed");
}

/// A writer does not block statements, nor they the writer.
#[test]
fn writing_goes_on_beside_statements() {
    let pair = pair();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            for _ in 0..50 {
                let rows = rows(&pair.shared, "SELECT count(*) FROM claims");
                assert!(matches!(rows[0][0], tamis_store::SqlValue::Integer(25..=60)), "{rows:?}");
            }
        });
        for claims in 26..=60 {
            if claims % 5 == 0 {
                fill(&pair.shared, HERE, "", claims);
            }
        }
        asking.join().unwrap();
    });
    assert_eq!(rows(&pair.shared, "SELECT count(*) FROM claims"), [[tamis_store::SqlValue::Integer(60)]]);
}
