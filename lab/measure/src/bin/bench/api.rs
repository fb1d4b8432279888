//! The speed of the JSON API: its overhead over a call of the library, many clients at once, callers beside one that sends all it can, and
//! lists cut in a second.
//! Compared calls alternate, so that a noisy machine is noisy for both.

use crate::clients::{HttpClient, Result, Server, index_of};
use crate::mcp::quantile;
use crate::tree::{grow, ms, timed};
use crate::{QUESTIONS, open};
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tamis::SearchRequest;
use tamis_store::Filter;

/// The number of clients at once, and the number of questions each asks.
const CLIENTS: usize = 200;
const EACH: usize = 5;

/// Callers that share a server, the time between two searches of each, and the searches of each.
const CALLERS: usize = 49;
const PERIOD: Duration = Duration::from_secs(2);
const ROUNDS: u32 = 10;

/// Calls of the caller that sends all it can.
const AT_ONCE: usize = 40;

/// Lists of a call to `/v1/cut`, entries of a list, and calls.
const LISTS: usize = 200;
const ENTRIES: usize = 100;
const CALLS: usize = 20;

pub fn run(passages: u64) -> Result<()> {
    let home = tempfile::tempdir()?;
    let tree = home.path().join("tree");
    grow(&tree, passages * 900)?;
    std::fs::create_dir_all(tree.join(".tamis"))?;
    index_of(&tree)?;
    let index = open(&tree, &["static"])?;
    println!("index: {} passages", index.contents().coverage("", &Filter::default())?.passages);
    let server = Server::serve(&tree)?;
    let address = server.address.ok_or("no address")?;
    overhead(&index, address)?;
    crowd(&index, address)?;
    lists(&server, address)?;
    drop(server);
    shares(&index, &tree)
}

/// A search as a request.
fn get(query: &str) -> String {
    format!("GET /v1/search?query={} HTTP/1.1\r\nHost: localhost\r\n\r\n", query.replace(' ', "+"))
}

/// The overhead of a search over the library's own time.
fn overhead(index: &tamis::Index, address: SocketAddr) -> Result<()> {
    let mut client = HttpClient::of(address)?;
    let (mut library, mut added) = (Vec::new(), Vec::new());
    for round in 0..30 {
        for query in QUESTIONS {
            let (took, _) = timed(|| Ok(index.search(SearchRequest::new(query))?))?;
            let served = client.send(&get(query))?;
            // The first rounds warm both.
            if round >= 5 {
                library.push(ms(took));
                added.push(ms(served) - ms(took));
            }
        }
    }
    println!("search by the library: p50 {:.2} ms", quantile(&mut library, 0.5));
    println!("  GET /v1/search: {:+.2} ms at the median of pairs", quantile(&mut added, 0.5));
    Ok(())
}

/// The searches of many callers, each with a token, without and with one more that always has many expensive calls under way.
fn shares(index: &tamis::Index, tree: &Path) -> Result<()> {
    let (server, tokens) = Server::serve_callers(tree, CALLERS + 1)?;
    let address = server.address.ok_or("no address")?;
    let (greedy, callers) = tokens.split_first().ok_or("no token")?;
    let found = index.search(SearchRequest::new(QUESTIONS[0]))?;
    let place = found.results.first().map(|hit| format!("{}:{}", hit.path, hit.start_line)).ok_or("nothing found")?;
    let long = QUESTIONS.join("+").replace(' ', "+");
    let expensive = [
        format!("search?query={long}"),
        "search?query=error&all&limit=1000".to_owned(),
        format!("pack?query={long}&budget_tokens=100000"),
        r"grep?pattern=(%5Cw%2B%5Cs*)%7B5,9%7Dzzz".to_owned(),
        format!("related?limit=1000&id={place}"),
    ];
    let request = |path: &str, token: &str| {
        format!("GET /v1/{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n")
    };
    for at_once in [0, AT_ONCE] {
        let (stop, expensive) = (AtomicBool::new(false), &expensive);
        let (answered, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let started = Instant::now();
        let asks = |number: usize, token: &str| -> Option<Vec<f64>> {
            let mut client = HttpClient::of(address).ok()?;
            (0..ROUNDS)
                .map(|round| {
                    let due = started + PERIOD * round + PERIOD * number as u32 / CALLERS as u32;
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    let query = QUESTIONS[(number + round as usize) % QUESTIONS.len()].replace(' ', "+");
                    client.send(&request(&format!("search?query={query}"), token)).ok()?;
                    Some(ms(due.elapsed()))
                })
                .collect()
        };
        let asks = &asks;
        let asked: Vec<Option<Vec<f64>>> = std::thread::scope(|scope| {
            for number in 0..at_once {
                let (stop, answered, refused) = (&stop, &answered, &refused);
                scope.spawn(move || {
                    let request = request(&expensive[number % expensive.len()], greedy);
                    while !stop.load(SeqCst) {
                        let sent = HttpClient::of(address).and_then(|mut client| client.send(&request));
                        if sent.is_ok() { answered } else { refused }.fetch_add(1, SeqCst);
                    }
                });
            }
            let clients: Vec<_> =
                callers.iter().enumerate().map(|(number, token)| scope.spawn(move || asks(number, token))).collect();
            let asked = clients.into_iter().map(|client| client.join().ok().flatten()).collect();
            stop.store(true, SeqCst);
            asked
        });
        let errors = asked.iter().filter(|asked| asked.is_none()).count();
        let mut times: Vec<f64> = asked.into_iter().flatten().flatten().collect();
        println!(
            "{CALLERS} callers, a search every {} s each{}: {} searches, {errors} callers with an error; p50 {:.0} ms, p95 {:.0} ms",
            PERIOD.as_secs(),
            match at_once {
                0 => String::new(),
                _ => format!(
                    ", beside one with {at_once} expensive calls at once ({answered:?} answered, {refused:?} refused)"
                ),
            },
            times.len(),
            quantile(&mut times, 0.5),
            quantile(&mut times, 0.95)
        );
    }
    Ok(())
}

/// Many clients at once, and as many threads of the library as there are cores with the same searches.
fn crowd(index: &tamis::Index, address: SocketAddr) -> Result<()> {
    let all = CLIENTS * EACH;
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(query) = Some(next.fetch_add(1, SeqCst)).filter(|&at| at < all) {
                    // Only the time counts.
                    let _ = index.search(SearchRequest::new(QUESTIONS[query % QUESTIONS.len()]));
                }
            });
        }
    });
    let library = all as f64 / started.elapsed().as_secs_f64();
    let started = Instant::now();
    let asked: Vec<std::result::Result<Vec<f64>, String>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                scope.spawn(move || {
                    let mut client = HttpClient::of(address).map_err(|error| error.to_string())?;
                    let queries = QUESTIONS.iter().cycle().skip(number).take(EACH);
                    queries.map(|query| Ok(ms(client.send(&get(query)).map_err(|error| error.to_string())?))).collect()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap_or_else(|_| Err("a panic".into()))).collect()
    });
    let served = all as f64 / started.elapsed().as_secs_f64();
    let errors = asked.iter().filter(|asked| asked.is_err()).count();
    let mut times: Vec<f64> = asked.into_iter().flatten().flatten().collect();
    println!(
        "{CLIENTS} clients at once: {} searches, {errors} errors, {served:.0} a second, {:.2} of the library's {library:.0} on {cores} \
         threads; p50 {:.0} ms, p99 {:.0} ms",
        times.len(),
        served / library,
        quantile(&mut times, 0.5),
        quantile(&mut times, 0.99)
    );
    Ok(())
}

/// Lists cut in a second of the server's processor time.
fn lists(server: &Server, address: SocketAddr) -> Result<()> {
    let list = |number: usize| {
        let step = 0.5 + 0.5 * (number % 7) as f64 / 7.0;
        let score = |at: usize| ((1.0 / (1.0 + at as f64 * step)) * 1e4).round() / 1e4;
        json!({ "scores": (0..ENTRIES).map(score).collect::<Vec<f64>>() })
    };
    for kept_only in [true, false] {
        let lists: Vec<_> = (0..LISTS).map(list).collect();
        let body = json!({ "kept_only": kept_only, "lists": lists }).to_string();
        let request = format!(
            "POST /v1/cut HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut client = HttpClient::of(address)?;
        client.send(&request)?;
        let (before, started) = (server.processor()?, Instant::now());
        for _ in 0..CALLS {
            client.send(&request)?;
        }
        let (used, took) = (server.processor()? - before, started.elapsed());
        let cut = (LISTS * CALLS) as f64;
        println!(
            "POST /v1/cut, lists of {ENTRIES}{}: {:.0} a second of processor time, {:.0} a second for one client",
            if kept_only { ", kept only" } else { "" },
            cut / used.as_secs_f64(),
            cut / took.as_secs_f64()
        );
    }
    Ok(())
}
