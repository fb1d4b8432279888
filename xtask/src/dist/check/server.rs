//! A file server on this machine, for programs that download.

use anyhow::Result;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Serves the files of a directory until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server on a free port of the loopback interface.
    ///
    /// # Errors
    /// There is none.
    pub fn start(directory: &Path) -> Result<Server> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let stopped = Arc::new(AtomicBool::new(false));
        let (is_stopped, directory) = (stopped.clone(), directory.to_owned());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if is_stopped.load(Ordering::SeqCst) {
                    break;
                }
                let directory = directory.clone();
                // A client that goes away is its own affair: its test fails.
                std::thread::spawn(move || answer(stream, &directory));
            }
        });
        Ok(Server { address, stopped, thread: Some(thread) })
    }

    /// Returns the address of the directory.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread up.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(mut stream: TcpStream, directory: &Path) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let path = request.split_whitespace().nth(1).unwrap_or_default();
    match file(directory, path).and_then(|path| fs::read(path).ok()) {
        Some(bytes) => {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", bytes.len());
            stream.write_all(head.as_bytes())?;
            stream.write_all(&bytes)
        }
        None => stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    }
}

/// Returns the file that a path of a request names, unless it leads out of the directory.
fn file(directory: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path.split('?').next()?.trim_start_matches('/'));
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    let path = directory.join(path);
    (stays && path.is_file()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn files_of_the_directory_are_served_and_no_others() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("secret"), "no").expect("written");
        let served = directory.path().join("served");
        fs::create_dir(&served).expect("made");
        fs::write(served.join("a.txt"), "yes").expect("written");
        let server = Server::start(&served).expect("a server");
        let ask = |path: &str| {
            let mut stream = TcpStream::connect(server.address).expect("connected");
            write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
            let mut reply = String::new();
            stream.read_to_string(&mut reply).expect("a reply");
            reply
        };
        assert!(ask("/a.txt").ends_with("\r\n\r\nyes"), "{}", ask("/a.txt"));
        assert!(ask("/../secret").starts_with("HTTP/1.1 404"));
        assert!(ask("/b.txt").starts_with("HTTP/1.1 404"));
    }
}
