//! What can be wrong with a server or the way to it: each fault is named, with the way out of it.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::database::TestDatabase;
use crate::private::PrivateServer;
use crate::{ask, done, json_of, tamis, tree};

/// What a command writes that fails.
fn refused(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}{}", String::from_utf8_lossy(&output.stdout));
    assert!(!text.contains("secret"), "{text}");
    text
}

fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

/// The parts of a database's address.
fn parts(url: &str) -> (String, u16, String) {
    let config: tokio_postgres::Config = url.parse().expect("an address");
    let user = config.get_user().unwrap_or("postgres").to_owned();
    (user, config.get_ports().first().copied().unwrap_or(5432), config.get_dbname().expect("a name").to_owned())
}

#[test]
fn refusal_of_a_server_names_the_reason_and_the_way_out() {
    let Some(server) =
        PrivateServer::start("max_connections = 4\nsuperuser_reserved_connections = 0\nreserved_connections = 0")
    else {
        return;
    };
    let directory = tree();
    let port = server.port;
    let says = |url: &str, said: &[&str]| {
        let mut status = tamis(&directory, Some(url));
        assert_says(&refused(status.env_remove("PGPASSWORD").args(["store", "status"])), said);
    };
    says(&server.url().replace("/postgres?", "/missing?"), &["\"missing\" does not exist", "CREATE DATABASE"]);
    let nowhere = format!("postgres://tamis@no-such-host.invalid:{port}/postgres");
    says(&nowhere, &["no-such-host.invalid", "host is unknown"]);
    says("postgres://tamis@127.0.0.1:1/postgres", &["127.0.0.1:1", "no server listens there"]);
    let encrypted = server.url().replace("sslmode=disable", "sslmode=require");
    says(&encrypted, &["does not support TLS", "enable ssl on the server", "sslmode=disable"]);
    says(&server.url().replace("disable", "allow"), &["sslmode=allow", "verify-full"]);
    says(&server.url().replace("sslmode=disable", "sslrootcert=/no/such.pem"), &["/no/such.pem", "sslrootcert", "PEM"]);

    ask(&server.url(), "ALTER ROLE tamis PASSWORD 'right'; SELECT ''");
    server.write("pg_hba.conf", "host all nobody 127.0.0.1/32 reject\nhost all all 127.0.0.1/32 scram-sha-256\n");
    server.restart();
    let with = |user: &str| server.url().replace("tamis@", user);
    says(&with("tamis:secret@"), &["password authentication failed for user \"tamis\"", "PGPASSWORD", "PGPASSFILE"]);
    says(&with("tamis@"), &["password missing", "PGPASSWORD"]);
    says(&with("nobody:secret@"), &["nobody", "pg_hba.conf"]);
    done(tamis(&directory, Some(&with("tamis@"))).env("PGPASSWORD", "right").args(["store", "init"]));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let address = with("tamis:right@");
    let connect = || {
        let connected = runtime.block_on(tokio_postgres::connect(&address, tokio_postgres::NoTls));
        let (client, connection) = connected.expect("connected");
        runtime.spawn(connection);
        client
    };
    let held = [(); 4].map(|()| connect());
    let started = Instant::now();
    says(&address, &["all connections of the server are taken", "max_connections"]);
    assert!(started.elapsed() > Duration::from_secs(4), "it waits for a connection");
    drop(held);
    drop(runtime);
}

#[test]
fn missing_pgvector_and_a_standby_are_named() {
    let Some(server) = PrivateServer::start("extension_control_path = '/nowhere'") else { return };
    let (directory, url) = (tree(), server.url());
    let init = || refused(tamis(&directory, Some(&url)).args(["store", "init"]));
    assert_says(&init(), &["pgvector is not installed on the server", "postgresql-18-pgvector"]);
    assert_eq!(ask(&url, "SELECT coalesce(to_regclass('tamis.meta')::text, 'none')"), "none", "nothing is half done");

    server.configure("");
    server.restart();
    ask(&url, "CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE postgres TO plain; SELECT ''");
    let plain = url.replace("tamis@", "plain@");
    let text = refused(tamis(&directory, Some(&plain)).args(["store", "init"]));
    assert_says(&text, &["permission denied", "CREATE EXTENSION vector SCHEMA public"]);

    done(tamis(&directory, Some(&url)).args(["index", "-q"]));
    server.write("standby.signal", "");
    server.restart();
    assert_eq!(ask(&url, "SELECT pg_is_in_recovery()::text"), "true");
    let found = json_of(tamis(&directory, Some(&url)).args(["search", "--json", "how hot should the oven be"]));
    assert_eq!(found["results"][0]["path"], "oven.md", "a standby is read: {found}");
    fs::write(directory.join("mill/new.md"), "# New\n\nSomething else.\n").expect("written");
    let text = refused(tamis(&directory, Some(&url)).args(["index", "-q"]));
    assert_says(&text, &["during recovery", "primary server"]);
}

#[test]
fn full_disk_is_named() {
    let Some(database) = TestDatabase::create() else { return };
    let (root, url) = (tree(), database.url());
    done(tamis(&root, Some(&url)).args(["index", "-q"]));
    ask(
        &url,
        "CREATE FUNCTION public.no_room() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE disk_full USING MESSAGE = 'could not extend file'; END $$; \
         CREATE TRIGGER no_room BEFORE INSERT ON tamis.passages FOR EACH ROW EXECUTE FUNCTION public.no_room(); SELECT ''",
    );
    let before = ask(&url, "SELECT count(*)::text FROM tamis.documents");
    fs::write(root.join("mill/new.md"), "# New\n\nSomething else.\n").expect("written");
    let text = refused(tamis(&root, Some(&url)).args(["index", "-q"]));
    assert_says(&text, &["no space left", "free some space"]);
    assert_eq!(ask(&url, "SELECT count(*)::text FROM tamis.documents"), before, "nothing is half done");
}

#[test]
fn silent_network_and_slow_statements_time_out() {
    let Some(database) = TestDatabase::create() else { return };
    let (root, url) = (tree(), database.url());
    // The system takes connections for it, and nobody reads them.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let started = Instant::now();
    let impatient = format!("postgres://tamis@127.0.0.1:{port}/tamis?sslmode=disable&connect_timeout=2");
    let text = refused(tamis(&root, Some(&impatient)).args(["search", "oven"]));
    assert_says(&text, &["did not answer in time", "network"]);
    assert!((1..9).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());

    done(tamis(&root, Some(&url)).args(["index", "-q"]));
    let limited = format!("{url}{}options=-c%20statement_timeout%3D50", if url.contains('?') { '&' } else { '?' });
    let blocked = Blocked::new(&url);
    let text = refused(tamis(&root, Some(&limited)).args(["search", "oven"]));
    assert_says(&text, &["statement timeout", "options=-c%20statement_timeout"]);
    drop(blocked);
}

#[test]
fn interrupted_command_leaves_no_statement_running() {
    let Some(database) = TestDatabase::create() else { return };
    let (root, url) = (tree(), database.url());
    done(tamis(&root, Some(&url)).args(["index", "-q"]));
    let blocked = Blocked::new(&url);
    let mut command = tamis(&root, Some(&url));
    let mut child = command.args(["search", "oven"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs");
    let waiting = || {
        ask(
            &url,
            "SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'tamis' AND state = 'active' \
             AND datname = current_database()",
        )
    };
    let until = |count: &str| {
        let started = Instant::now();
        while waiting() != count {
            assert!(started.elapsed() < Duration::from_secs(30), "still not {count}");
            std::thread::sleep(Duration::from_millis(50));
        }
        started.elapsed()
    };
    until("1");
    // A run that could stop at a whole step stops at once the second time.
    for _ in 0..2 {
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it runs");
        assert!(killed.success());
        std::thread::sleep(Duration::from_millis(300));
    }
    assert!(child.try_wait().expect("its state").is_some(), "it ends");
    let time = until("0");
    assert!(time < Duration::from_secs(5), "{time:?}");
    drop(blocked);
}

/// Keeps everybody from reading the namespaces until it is dropped.
struct Blocked {
    runtime: tokio::runtime::Runtime,
    client: Option<tokio_postgres::Client>,
}

impl Blocked {
    fn new(url: &str) -> Blocked {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("made");
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, tokio_postgres::NoTls)).expect("met");
        runtime.spawn(connection);
        runtime
            .block_on(client.batch_execute("BEGIN; LOCK TABLE tamis.namespaces IN ACCESS EXCLUSIVE MODE"))
            .expect("locked");
        Blocked { runtime, client: Some(client) }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            let _ = self.runtime.block_on(client.batch_execute("ROLLBACK"));
        }
    }
}

#[test]
fn certificate_of_a_private_authority_is_trusted_once_named() {
    let Some(database) = TestDatabase::create() else { return };
    let (user, port, name) = parts(&database.url());
    let root = tree();
    let certificate = |arguments: &str| {
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
        let words = format!("req -x509 {key} {arguments}");
        let made = Command::new("openssl").args(words.split(' ')).current_dir(&*root).output();
        made.is_ok_and(|output| output.status.success())
    };
    if !certificate("-subj /CN=ours -keyout ca.key -out ca.pem -addext basicConstraints=critical,CA:TRUE") {
        eprintln!("not tested: openssl cannot be run");
        return;
    }
    assert!(certificate(
        "-subj /CN=localhost -keyout server.key -out server.crt -CA ca.pem -CAkey ca.key \
         -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE"
    ));
    let front = crate::tls::Front::before(port, &root.join("server.crt"), &root.join("server.key"));
    let authority = root.join("ca.pem").to_str().expect("UTF-8").to_owned();
    let at = |host: &str, parameters: &str| format!("postgres://{user}@{host}:{}/{name}{parameters}", front.port);
    let status = ["store", "status"];
    for url in [
        at("localhost", &format!("?sslmode=verify-full&sslrootcert={authority}")),
        at("localhost", &format!("?sslmode=prefer&sslrootcert={authority}")),
    ] {
        done(tamis(&root, Some(&url)).args(status));
    }
    done(tamis(&root, Some(&at("localhost", ""))).env("PGSSLROOTCERT", &authority).args(status));
    let says = |url: String, said: &[&str]| assert_says(&refused(tamis(&root, Some(&url)).args(status)), said);
    says(at("localhost", "?sslmode=require"), &["sslrootcert=FILE", "PGSSLROOTCERT"]);
    says(at("127.0.0.1", &format!("?sslrootcert={authority}")), &["name the host as the certificate does"]);
}
