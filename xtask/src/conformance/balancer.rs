//! A balancer before several servers: each connection goes to the next one.

use anyhow::Result;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

/// Starts one, which lasts as long as this process. Returns its port.
///
/// # Errors
/// No port is free.
pub fn start(servers: Vec<u16>) -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for (client, server) in listener.incoming().zip(servers.iter().cycle()) {
            // A client whose server is gone finds its connection closed.
            let Ok(client) = client else { continue };
            let Ok(server) = TcpStream::connect(("127.0.0.1", *server)) else { continue };
            if let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) {
                thread::spawn(move || carry(from, to));
                thread::spawn(move || carry(server, client));
            }
        }
    });
    Ok(port)
}

/// Carries bytes one way until an end closes.
fn carry(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
