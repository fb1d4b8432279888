//! The speed of the JSON API: its overhead over a call of the library, many clients at once, and lists cut in a second.
//! Compared calls alternate, so that a noisy machine is noisy for both.

use crate::clients::{HttpClient, Result, Server, index_of};
use crate::mcp::quantile;
use crate::tree::{grow, ms, timed};
use crate::{QUESTIONS, open};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;
use tamis::SearchRequest;
use tamis_store::Filter;

/// The number of clients at once, and the number of questions each asks.
const CLIENTS: usize = 200;
const EACH: usize = 5;

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
    lists(&server, address)
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
