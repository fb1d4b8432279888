//! A network that fails: a proxy before a server, which a test can make silent, cut, or alter.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happens on the way from the server.
#[derive(Clone, Debug)]
pub enum Way {
    /// Everything arrives.
    Open,
    /// Nothing arrives.
    Silent,
    /// Each packet takes so long.
    Slow(Duration),
    /// The next packet that holds this is not delivered, and its connection ends; later ones are left alone.
    CutOnce(&'static str),
    /// One text arrives as another of the same length.
    Altered(&'static str, &'static str),
}

pub struct Proxy {
    pub port: u16,
    way: Arc<Mutex<Way>>,
    /// The number of connections that were cut.
    pub cuts: Arc<AtomicUsize>,
}

impl Proxy {
    pub fn before(port: u16, way: Way) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let own = listener.local_addr().expect("bound").port();
        let proxy = Proxy { port: own, way: Arc::new(Mutex::new(way)), cuts: Arc::default() };
        let (way, cuts) = (proxy.way.clone(), proxy.cuts.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
                let (from_client, to_server) =
                    (client.try_clone().expect("cloned"), server.try_clone().expect("cloned"));
                let open = Arc::new(Mutex::new(Way::Open));
                let none = Arc::default();
                std::thread::spawn(move || carry(from_client, to_server, &open, &none));
                let (way, cuts) = (way.clone(), cuts.clone());
                std::thread::spawn(move || carry(server, client, &way, &cuts));
            }
        });
        proxy
    }

    pub fn becomes(&self, way: Way) {
        *self.way.lock().unwrap() = way;
    }

    pub fn url(&self, database: &str, user: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, way: &Arc<Mutex<Way>>, cuts: &Arc<AtomicUsize>) {
    let mut packet = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut packet) {
        let holds = |packet: &[u8], text: &str| packet.windows(text.len()).position(|part| part == text.as_bytes());
        let now = way.lock().unwrap().clone();
        match now {
            Way::Open => {}
            Way::Silent => continue,
            Way::Slow(time) => std::thread::sleep(time),
            Way::CutOnce(text) => {
                if holds(&packet[..length], text).is_some() {
                    *way.lock().unwrap() = Way::Open;
                    cuts.fetch_add(1, SeqCst);
                    break;
                }
            }
            Way::Altered(text, other) => {
                if let Some(place) = holds(&packet[..length], text) {
                    packet[place..place + other.len()].copy_from_slice(other.as_bytes());
                }
            }
        }
        if to.write_all(&packet[..length]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
