//! The speed of the server: its overhead over a call of the library, many clients at once, and the effect on them of an
//! index that is being embedded meanwhile. Compared calls alternate, so that a noisy machine is noisy for both.

use crate::clients::{HttpClient, Result, Server, StdioClient, index_of, search};
use crate::tree::{count, grow, ms, timed};
use crate::{BYTES_A_PASSAGE, QUESTIONS, open};
use std::path::Path;
use std::time::{Duration, Instant};
use tamis::SearchRequest;
use tamis::evidence::SqlRequest;
use tamis_store::Filter;

/// The number of clients at once, and the number of questions each asks.
const CLIENTS: usize = 200;
const EACH: usize = 5;

pub fn run(passages: u64) -> Result<()> {
    let home = tempfile::tempdir()?;
    let tree = home.path().join("tree");
    let grown = grow(&tree, passages * BYTES_A_PASSAGE)?;
    std::fs::create_dir_all(tree.join(".tamis"))?;
    println!("tree: {} files, {:.1} MB", count(&tree)?, grown.bytes as f64 / 1e6);
    let (took, ()) = timed(|| index_of(&tree))?;
    let index = open(&tree, &["static"])?;
    let passages = index.contents().coverage("", &Filter::default())?.passages;
    println!("index: {passages} passages in {:.1} s", took.as_secs_f64());
    limits(&index)?;
    overhead(&index, &tree)?;
    drop(index);
    crowd(&tree)?;
    background(&tree)
}

/// Checks that endless statements are stopped on time.
fn limits(index: &tamis::Index) -> Result<()> {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    for asked in [100, 300, 1000, 2000] {
        let mut request = SqlRequest::new(endless);
        request.limits.timeout = asked;
        let (took, ended) = timed(|| Ok(index.evidence().query_sql(&request)))?;
        assert!(ended.is_err(), "a statement without an end ended");
        println!("query_sql: {asked} ms asked, {:.1} ms taken, {:.3} of it", ms(took), ms(took) / asked as f64);
    }
    Ok(())
}

/// The overhead of each way to the same search over the library's own time.
fn overhead(index: &tamis::Index, tree: &Path) -> Result<()> {
    let mut stdio_server = Server::start(tree, "static", &["--no-refresh"])?;
    let mut stdio = StdioClient::of(&mut stdio_server)?;
    let http_server = Server::start(tree, "static", &["--no-refresh", "--http", "127.0.0.1:0"])?;
    let mut http = HttpClient::of(http_server.address.ok_or("no address")?)?;
    println!("resident: {:.0} MB before the first search", http_server.megabytes()?);
    let (mut library, mut by_stdio, mut by_http) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..30 {
        for query in QUESTIONS {
            let (took, _) = timed(|| Ok(index.search(SearchRequest::new(query))?))?;
            let message = search(query);
            let (over_stdio, over_http) = (stdio.ask(&message)?, http.ask(&message)?);
            // The first rounds warm all three.
            if round >= 5 {
                library.push(took);
                by_stdio.push(ms(over_stdio) - ms(took));
                by_http.push(ms(over_http) - ms(took));
            }
        }
    }
    let p50 = quantile(&mut library.iter().map(|took| ms(*took)).collect::<Vec<_>>(), 0.5);
    println!("search by the library: p50 {p50:.2} ms");
    for (name, mut added) in [("stdio", by_stdio), ("HTTP", by_http)] {
        println!("  over {name}: {:+.2} ms at the median of pairs", quantile(&mut added, 0.5));
    }
    println!("resident: {:.0} MB after {} searches, static", http_server.megabytes()?, 30 * QUESTIONS.len());
    let before = http_server.processor()?;
    std::thread::sleep(Duration::from_secs(10));
    let used = http_server.processor()?.saturating_sub(before);
    println!("idle for 10 s: {:.0} ms of processor time, {:.0} MB resident", ms(used), http_server.megabytes()?);
    Ok(())
}

/// Many clients at once, each with a connection.
fn crowd(tree: &Path) -> Result<()> {
    let server = Server::start(tree, "static", &["--no-refresh", "--http", "127.0.0.1:0"])?;
    let address = server.address.ok_or("no address")?;
    let mut alone = HttpClient::of(address)?;
    let mut times: Vec<f64> = Vec::new();
    for query in QUESTIONS.iter().cycle().take(120) {
        times.push(ms(alone.ask(&search(query))?));
    }
    let (p50, p99) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
    let started = Instant::now();
    let asked: Vec<std::result::Result<Vec<f64>, String>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                scope.spawn(move || {
                    let mut client = HttpClient::of(address).map_err(|error| error.to_string())?;
                    let queries = QUESTIONS.iter().cycle().skip(number).take(EACH);
                    queries
                        .map(|query| Ok(ms(client.ask(&search(query)).map_err(|error| error.to_string())?)))
                        .collect()
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap_or_else(|_| Err("a panic".into()))).collect()
    });
    let whole = started.elapsed();
    let errors: Vec<&String> = asked.iter().filter_map(|asked| asked.as_ref().err()).collect();
    let mut times: Vec<f64> = asked.iter().flatten().flatten().copied().collect();
    let (many50, many99) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
    println!("one client over HTTP: p50 {p50:.2} ms, p99 {p99:.2} ms");
    println!(
        "{CLIENTS} clients at once: {} searches, {} errors {errors:?}, {:.0} a second; p50 {many50:.0} ms, p99 {many99:.0} ms, \
         {:.1} x one client's p99, {:.2} x {CLIENTS} times its p50; {:.0} MB resident",
        times.len(),
        errors.len(),
        times.len() as f64 / whole.as_secs_f64(),
        many99 / p99,
        many99 / (p50 * CLIENTS as f64),
        server.megabytes()?
    );
    Ok(())
}

/// Searches of an idle server and of one that embeds meanwhile, in turn; the other one is stopped.
fn background(tree: &Path) -> Result<()> {
    let quiet = Server::start(tree, "static", &["--no-refresh", "--http", "127.0.0.1:0"])?;
    let busy = Server::start(tree, "static,minilm", &["--http", "127.0.0.1:0"])?;
    let mut clients =
        [HttpClient::of(quiet.address.ok_or("no address")?)?, HttpClient::of(busy.address.ok_or("no address")?)?];
    for client in &mut clients {
        for query in QUESTIONS {
            client.ask(&search(query))?;
        }
    }
    // Until the tree is checked and the model loaded.
    std::thread::sleep(Duration::from_secs(20));
    let before = busy.processor()?;
    std::thread::sleep(Duration::from_secs(2));
    println!(
        "embedding: {:.0}% of a processor, {:.0} MB resident",
        ms(busy.processor()? - before) / 20.0,
        busy.megabytes()?
    );
    // One search after another, and one now and then, so that embedding is going on each time.
    for (name, pause) in [("one after another", 0), ("one every 400 ms", 400)] {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..10 {
            for which in 0..2 {
                let (runs, stops) = if which == 0 { (&quiet, &busy) } else { (&busy, &quiet) };
                stops.signal("-STOP")?;
                runs.signal("-CONT")?;
                std::thread::sleep(Duration::from_millis(300));
                for query in QUESTIONS.iter().cycle().skip(round).take(if pause == 0 { 48 } else { 12 }) {
                    std::thread::sleep(Duration::from_millis(pause));
                    times[which].push(ms(clients[which].ask(&search(query))?));
                }
            }
        }
        quiet.signal("-CONT")?;
        let [alone, during] = &mut times;
        let (alone50, alone95) = (quantile(alone, 0.5), quantile(alone, 0.95));
        let (during50, during95) = (quantile(during, 0.5), quantile(during, 0.95));
        println!(
            "searches {name}: alone p50 {alone50:.2} ms, p95 {alone95:.2} ms; while embedding p50 {during50:.2} ms, p95 {during95:.2} ms; \
             {:.2} x and {:.2} x",
            during50 / alone50,
            during95 / alone95
        );
    }
    Ok(())
}

pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).round() as usize]
}
