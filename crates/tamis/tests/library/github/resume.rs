//! An import that stops anywhere resumes from there.

use super::server::ServerFault;
use super::{Bench, held, world};

#[test]
fn wherever_an_import_breaks_off_the_next_one_brings_the_rest() {
    let whole = Bench::new(world());
    let index = whole.open();
    whole.import(&index);
    let expected = held(&index);
    let requests = whole.server.targets().len();
    assert!(requests > 6, "{requests}");
    for from in 0..requests {
        let mut world = world();
        world.broken_from = Some((from, ServerFault::Nothing));
        let bench = Bench::new(world);
        let index = bench.open();
        bench.error(&index);
        let asked = bench.server.targets().len();
        bench.server.world().broken_from = None;
        let report = bench.import(&index);
        assert_eq!(held(&index), expected, "broken off at request {from}");
        // Five repetitions, and then no page of the same list twice except the last one.
        let again = report.requests as usize + asked.saturating_sub(6);
        assert!(again <= requests + 3, "broken off at request {from}: {again} of {requests}");
        assert_eq!(report.pending, 0);
    }
}

#[test]
fn an_import_broken_off_among_reviews_asks_for_the_others_alone() {
    let mut world = world();
    for number in 10..60 {
        world.issues.push(super::pull(number, "Polish the brass", 60, 260));
        world.reviews.insert(number, vec![super::review(1000 + number, number, 261, "Shines.")]);
    }
    world.page = 100;
    // Three lists, then reviews: 20 are committed together.
    world.broken_from = Some((3 + 30, ServerFault::Nothing));
    let bench = Bench::new(world);
    let index = bench.open();
    bench.error(&index);
    bench.server.world().broken_from = None;
    bench.server.requests();
    let report = bench.import(&index);
    assert_eq!((report.reviewed, report.pending), (21, 0), "{report:?}");
    let held = held(&index);
    assert!((10..60).all(|number| held[&format!("issue:{number}")].contains("Shines.")));
}
