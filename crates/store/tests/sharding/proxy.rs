//! A server between a store and the real one. It records every statement that the store sends, and can have the tables that would be
//! distributed partitioned instead.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, BufWriter, Read, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::tables::{COLUMN, DISTRIBUTED};

/// The number of partitions of each table.
const PARTITIONS: usize = 4;

/// Requests that come before any other message.
const ASKS_FOR_TLS: u32 = 80_877_103;
const ASKS_FOR_GSS: u32 = 80_877_104;
const CANCELS: u32 = 80_877_102;

/// The statements that went through a proxy.
type Statements = Arc<Mutex<BTreeSet<String>>>;

/// A proxy, for as long as its connections last.
pub struct Proxy {
    /// Its port on this machine.
    pub port: u16,
    statements: Statements,
}

impl Proxy {
    /// Starts a proxy to a server. `partitioned` changes the statements that create tables and indexes.
    pub fn start(host: &str, port: u16, partitioned: bool) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let proxy = Proxy { port: listener.local_addr().expect("bound").port(), statements: Statements::default() };
        let (statements, host) = (proxy.statements.clone(), host.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((host.as_str(), port)) else { continue };
                let statements = statements.clone();
                std::thread::spawn(move || {
                    let ends = [client.try_clone(), server.try_clone()];
                    let _ = connected(client, server, &statements, partitioned);
                    ends.into_iter().flatten().for_each(|end| drop(end.shutdown(Shutdown::Both)));
                });
            }
        });
        proxy
    }

    /// Takes the statements that were sent since the last time.
    pub fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.statements.lock().expect("no thread panicked with it"))
    }
}

/// Passes on what both sides send until one of them ends.
fn connected(client: TcpStream, server: TcpStream, statements: &Statements, partitioned: bool) -> Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let mut answers = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut answers.0, &mut answers.1);
        let _ = answers.1.shutdown(Shutdown::Both);
    });
    let mut refusals = client.try_clone()?;
    let mut from = BufReader::with_capacity(1 << 16, client);
    let mut to = BufWriter::with_capacity(1 << 16, server);
    loop {
        let length = number(&mut from)?;
        let body = bytes(&mut from, length)?;
        let code = body.first_chunk().map_or(0, |code| u32::from_be_bytes(*code));
        if [ASKS_FOR_TLS, ASKS_FOR_GSS].contains(&code) {
            refusals.write_all(b"N")?;
            continue;
        }
        to.write_all(&length.to_be_bytes())?;
        to.write_all(&body)?;
        to.flush()?;
        if code == CANCELS {
            return Ok(());
        }
        break;
    }
    while !from.fill_buf()?.is_empty() {
        let mut kind = [0];
        from.read_exact(&mut kind)?;
        let length = number(&mut from)?;
        let mut body = bytes(&mut from, length)?;
        match kind[0] {
            b'Q' => {
                let sent = text(&body);
                statements.lock().expect("no thread panicked with it").insert(sent.clone());
                if partitioned {
                    body = self::partitioned(&sent).into_bytes();
                    body.push(0);
                }
            }
            b'P' => {
                let name = body.iter().position(|byte| *byte == 0).unwrap_or(0);
                statements.lock().expect("no thread panicked with it").insert(text(&body[name + 1..]));
            }
            _ => {}
        }
        to.write_all(&kind)?;
        to.write_all(&(body.len() as u32 + 4).to_be_bytes())?;
        to.write_all(&body)?;
        if from.buffer().is_empty() {
            to.flush()?;
        }
    }
    Ok(())
}

/// The length of a message, with that of the length itself.
fn number(from: &mut impl Read) -> Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

fn bytes(from: &mut impl Read, length: u32) -> Result<Vec<u8>> {
    let mut bytes = vec![0; (length as usize).saturating_sub(4)];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A text that ends with a zero byte.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Statements that create the tables, with the distributed ones partitioned by hash. What partitions forbid, shards forbid too: keys
/// without the column, and foreign keys to other places.
fn partitioned(script: &str) -> String {
    // The server builds no index of a partitioned table concurrently.
    let mut script = script.replace("INDEX CONCURRENTLY", "INDEX");
    for table in DISTRIBUTED {
        let Some(start) = script.find(&format!("CREATE TABLE {table}(")) else { continue };
        let Some(end) = script[start..].find("\n);").map(|end| start + end) else { continue };
        // `tamis store shard` drops this key: the numbers come from one sequence.
        let columns = script[start..end].replace("number integer NOT NULL UNIQUE", "number integer NOT NULL");
        let partitions: String = (0..PARTITIONS)
            .map(|rest| {
                format!(
                    "\nCREATE TABLE {table}_{rest} PARTITION OF {table} FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {rest});"
                )
            })
            .collect();
        script.replace_range(start..end + 3, &format!("{columns}\n) PARTITION BY HASH ({COLUMN});{partitions}"));
    }
    script
}
