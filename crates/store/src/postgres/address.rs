//! The address of a database, `postgres://USER@HOST:PORT/DATABASE?sslmode=…&sslrootcert=…`: its servers, how connections to them are
//! encrypted, and how long they wait for one. The environment adds what `libpq` takes from it (PostgreSQL documentation, "Database
//! Connection Control Functions" and "SSL Support").

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Config, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Result, StoreError};

/// Longest wait for a connection, to whichever of the servers.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Silence after which an idle connection is probed. Without probes, a server that lost its power looks idle for two hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
/// Pause between two probes.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
/// Probes without an answer after which the connection is given up.
const KEEPALIVE_RETRIES: u32 = 3;

/// The longest that sent data may stay unconfirmed. A busy server confirms what it receives, so it is not taken for a lost one.
const UNCONFIRMED: Duration = Duration::from_secs(20);

/// An address, read.
#[derive(Debug)]
pub(crate) struct Address {
    pub config: Config,
    /// The file with the certificates of the authorities to trust; `None` for those that Mozilla trusts.
    pub authorities: Option<PathBuf>,
}

/// Reads an address, `postgres://USER@HOST:PORT/DATABASE` or one with several hosts, and takes what it does not say from the
/// environment.
///
/// # Errors
/// It is not an address, or asks for a kind of encryption that there is not.
pub(crate) fn read(url: &str) -> Result<Address> {
    let (url, encryption) = Encryption::split(url, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let refused = |reason: String| {
        refused(format!(
            "its address must be postgres://USER@HOST:PORT/DATABASE, or postgres://USER@HOST:PORT,HOST:PORT/DATABASE for \
             several servers ({reason})"
        ))
    };
    let mut config: Config = url.parse().map_err(|reason: tokio_postgres::Error| {
        let cause = std::error::Error::source(&reason).map(|cause| format!(": {cause}")).unwrap_or_default();
        refused(format!("{reason}{cause}"))
    })?;
    // Nobody listens in on a socket of this machine, and the server encrypts none.
    let is_local = hosts(&config).all(|(host, _)| host.starts_with('/'));
    config.ssl_mode(if is_local { SslMode::Disable } else { encryption.mode()? });
    let (hosts, ports) = (servers(&config), config.get_ports().len());
    if hosts == 0 {
        return Err(refused("it names no host".to_owned()));
    }
    if let Some(host) = self::hosts(&config).map(|(host, _)| host).find(|host| host.contains(',')) {
        return Err(refused(format!("it names the host {host:?}")));
    }
    if ports > 1 && ports != hosts {
        return Err(refused(format!("it names {ports} ports for {hosts} host{}", if hosts == 1 { "" } else { "s" })));
    }
    if let Some(password) = find(&config, self::hosts(&config)) {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        // A server that does not answer must leave time for the others.
        let hosts = hosts as u32;
        config.connect_timeout(if hosts == 1 { CONNECT_TIMEOUT } else { CONNECT_TIMEOUT * 2 / (hosts + 2) });
    }
    // The address may set its own.
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(KEEPALIVE_IDLE);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(KEEPALIVE_INTERVAL);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(KEEPALIVE_RETRIES);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(UNCONFIRMED);
    }
    Ok(Address { config, authorities: encryption.authorities() })
}

/// What is said of encryption, in the address or else in the environment.
#[derive(Debug, Default)]
struct Encryption {
    /// The name that gave the mode, and the mode.
    mode: Option<(&'static str, String)>,
    authorities: Option<String>,
}

impl Encryption {
    /// Takes the parameters of encryption out of an address, since the client knows only some of their values.
    fn split(url: &str, environment: &dyn Fn(&str) -> Option<String>) -> (String, Encryption) {
        let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
        let mut found = Encryption::default();
        let mut rest: Vec<&str> = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = || percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "sslmode" => found.mode = Some(("sslmode", value())),
                "sslrootcert" => found.authorities = Some(value()),
                _ => rest.push(parameter),
            }
        }
        found.mode = found.mode.or_else(|| Some(("PGSSLMODE", environment("PGSSLMODE")?)));
        found.authorities = found.authorities.or_else(|| environment("PGSSLROOTCERT"));
        let url = if rest.is_empty() { address.to_owned() } else { format!("{address}?{}", rest.join("&")) };
        (url, found)
    }

    fn mode(&self) -> Result<SslMode> {
        Ok(match &self.mode {
            // Whoever names an authority expects its certificates.
            None if self.authorities.is_some() => SslMode::Require,
            None => SslMode::Prefer,
            Some((name, mode)) => match mode.as_str() {
                "disable" => SslMode::Disable,
                "prefer" => SslMode::Prefer,
                // A certificate is checked, with the name of its host, wherever there is encryption.
                "require" | "verify-full" => SslMode::Require,
                _ => return Err(refused(format!("{name}={mode}: must be disable, prefer, require or verify-full"))),
            },
        })
    }

    fn authorities(self) -> Option<PathBuf> {
        self.authorities.filter(|file| file != "system").map(PathBuf::from)
    }
}

fn refused(reason: String) -> StoreError {
    StoreError::Database { path: "postgres".into(), reason }
}

pub(crate) fn servers(config: &Config) -> usize {
    config.get_hosts().len().max(config.get_hostaddrs().len())
}

/// Names of the servers, as the address gives them.
pub(crate) fn hosts(config: &Config) -> impl Iterator<Item = (String, Option<u16>)> + '_ {
    let ports = config.get_ports();
    (0..servers(config)).map(move |at| {
        let host = match (config.get_hosts().get(at), config.get_hostaddrs().get(at)) {
            (Some(Host::Tcp(host)), _) => host.clone(),
            #[cfg(unix)]
            (Some(Host::Unix(path)), _) => path.display().to_string(),
            (None, Some(address)) => address.to_string(),
            (None, None) => "localhost".to_owned(),
        };
        (host, ports.get(at).or(ports.first()).copied())
    })
}

/// The address for messages: hosts, ports and database, without user and password.
pub(crate) fn described(config: &Config) -> String {
    let servers: Vec<String> = hosts(config)
        .map(|(host, port)| {
            // An address of the sixth version has colons of its own.
            let host = if host.contains(':') { format!("[{host}]") } else { host };
            port.map_or_else(|| host.clone(), |port| format!("{host}:{port}"))
        })
        .collect();
    format!("postgres://{}/{}", servers.join(","), config.get_dbname().unwrap_or_default())
}

/// Longest password file that is read.
const LONGEST_FILE: u64 = 1 << 20;

/// The port of a server that names none.
const PORT: u16 = 5432;

/// Finds the password for an address that has none. `servers` are its hosts and their ports.
///
/// The password of a server, where the address has none: from the environment or the user's password file, as `libpq` finds it
/// (PostgreSQL documentation, "The Password File").
pub(crate) fn find(config: &Config, servers: impl Iterator<Item = (String, Option<u16>)>) -> Option<String> {
    if config.get_password().is_some() {
        return None;
    }
    if let Some(password) = std::env::var("PGPASSWORD").ok().filter(|password| !password.is_empty()) {
        return Some(password);
    }
    let path = path()?;
    let metadata =
        std::fs::metadata(&path).ok().filter(|metadata| metadata.is_file() && metadata.len() <= LONGEST_FILE)?;
    if is_open_to_others(&metadata) {
        return None;
    }
    in_file(&std::fs::read_to_string(path).ok()?, config, servers)
}

/// The password that a file has for the servers of an address. They hold the same users, so the first password that fits is that of
/// all.
fn in_file(file: &str, config: &Config, mut servers: impl Iterator<Item = (String, Option<u16>)>) -> Option<String> {
    let user = config.get_user().unwrap_or_default();
    servers.find_map(|(host, port)| {
        // `libpq` looks for a socket under the name of the machine itself.
        let host = if host.starts_with('/') { "localhost" } else { host.as_str() };
        let port = port.unwrap_or(PORT).to_string();
        password(file, [host, &port, config.get_dbname().unwrap_or(user), user])
    })
}

fn path() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("PGPASSFILE").or_else(|| {
        if cfg!(windows) {
            Some(variable("APPDATA")?.join("postgresql/pgpass.conf"))
        } else {
            Some(variable("HOME")?.join(".pgpass"))
        }
    })
}

/// True if others than the owner may read the file. `libpq` ignores it then.
#[cfg(unix)]
fn is_open_to_others(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

/// The password in the first line that fits these: `host:port:database:user:password`, where `*` fits everything.
fn password(file: &str, wanted: [&str; 4]) -> Option<String> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find_map(|fields| {
        let (password, fields) = fields.split_last().filter(|(_, fields)| fields.len() == wanted.len())?;
        fields.iter().zip(wanted).all(|(field, value)| field == "*" || field == value).then(|| password.clone())
    })
}

/// The fields of a line. A backslash stands before a colon or backslash that belongs to a field.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next() } else { None };
        match (character, fields.last_mut()) {
            (':', _) => fields.push(String::new()),
            (character, Some(field)) => field.push(escaped.unwrap_or(character)),
            (_, None) => {}
        }
    }
    fields
}

/// The encryption of connections, if they are encrypted.
#[derive(Clone)]
pub(crate) struct Tls {
    rustls: MakeRustlsConnect,
    is_used: bool,
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;
    type TlsConnect = <MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect;
    type Error = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Self::TlsConnect, Self::Error> {
        // A socket of this machine has no name, and needs none.
        let host = if self.is_used { host } else { "localhost" };
        MakeTlsConnect::<Socket>::make_tls_connect(&mut self.rustls, host)
    }
}

/// Prepares connections, encrypted ones unless the mode says that there are none. A server's certificate is checked against the
/// authorities in a PEM file, or without one against those that Mozilla trusts, and has to name the host.
///
/// # Errors
/// The file cannot be read, or holds no certificate.
pub(crate) fn connector(mode: SslMode, authorities: Option<&Path>) -> Result<Tls> {
    let is_used = mode != SslMode::Disable;
    let roots = match authorities.filter(|_| is_used) {
        Some(file) => read_authorities(file)?,
        None => RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() },
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = match ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions() {
        Ok(config) => config,
        // The provider above has these versions.
        Err(_) => unreachable!("the provider supports the default versions"),
    };
    let rustls = MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth());
    Ok(Tls { rustls, is_used })
}

fn read_authorities(file: &Path) -> Result<RootCertStore> {
    let refused = |reason: String| StoreError::Database {
        path: file.into(),
        reason: format!("sslrootcert: {reason}; it must be a PEM file with the certificate of an authority"),
    };
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| refused(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let added = certificate.map_err(|error| refused(error.to_string()));
        roots.add(added?).map_err(|error| refused(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(refused("no certificate is in it".to_owned()));
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_postgres::config::TargetSessionAttrs;

    #[test]
    fn an_address_of_several_servers_is_described_whole() {
        for (url, expected) in [
            ("postgres://ada:secret@one/tamis", "postgres://one:5432/tamis"),
            ("postgres://ada:secret@one:1,two:2,three:3/tamis", "postgres://one:1,two:2,three:3/tamis"),
            ("postgres://ada:secret@one,two:2/tamis", "postgres://one:5432,two:2/tamis"),
            ("postgres://ada@[::1]:1,two:2/tamis?target_session_attrs=read-write", "postgres://[::1]:1,two:2/tamis"),
            ("postgres://one:7/tamis?host=two&port=8", "postgres://one:7,two:8/tamis"),
            ("postgres:///tamis?hostaddr=10.0.0.1,10.0.0.2", "postgres://10.0.0.1,10.0.0.2/tamis"),
        ] {
            let config = read(url).expect(url).config;
            assert_eq!(described(&config), expected, "{url}");
        }
    }

    #[test]
    fn each_server_gets_its_part_of_the_time() {
        let wait = |url| read(url).expect(url).config.get_connect_timeout().copied();
        assert_eq!(wait("postgres://ada@one/tamis"), Some(CONNECT_TIMEOUT));
        assert_eq!(wait("postgres://ada@one,two,three/tamis"), Some(Duration::from_secs(4)));
        assert_eq!(wait("postgres://ada@one/tamis?connect_timeout=3"), Some(Duration::from_secs(3)));
    }

    #[test]
    fn lost_servers_are_noticed_unless_the_address_says_otherwise() {
        let config = read("postgres://ada@one,two/tamis?target_session_attrs=read-write").expect("read").config;
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!(config.get_keepalives_idle(), KEEPALIVE_IDLE);
        assert_eq!(config.get_tcp_user_timeout(), Some(&UNCONFIRMED));
        let own = "keepalives_idle=60&keepalives_interval=7&keepalives_retries=2&tcp_user_timeout=9";
        let config = read(&format!("postgres://ada@one/tamis?{own}")).expect("read").config;
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(60));
        assert_eq!(config.get_keepalives_interval(), Some(Duration::from_secs(7)));
        assert_eq!(config.get_keepalives_retries(), Some(2));
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_secs(9)));
    }

    #[test]
    fn a_wrong_address_says_what_is_wrong() {
        for (url, part) in [
            ("postgres:///tamis", "it names no host"),
            ("postgres:///tamis?host=a,b,c&port=1,2", "it names the host \"a,b,c\""),
            ("postgres://one:7/tamis?port=8", "it names 2 ports for 1 host"),
            ("postgres://ada:secret@one:port/tamis", "port"),
            ("postgres://one/tamis?target_session_attrs=primary", "target_session_attrs"),
        ] {
            let error = read(url).expect_err(url).to_string();
            assert!(error.contains(part) && !error.contains("secret"), "{error}");
        }
    }

    fn encryption(url: &str, environment: &[(&str, &str)]) -> Result<(SslMode, Option<PathBuf>)> {
        let value = |name: &str| environment.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).into());
        let (_, found) = Encryption::split(url, &value);
        Ok((found.mode()?, found.authorities()))
    }

    #[test]
    fn an_address_says_how_it_is_encrypted_before_the_environment_does() {
        let file = |name: &str| Some(PathBuf::from(name));
        for (url, environment, expected) in [
            ("postgres://a@h/d", &[][..], (SslMode::Prefer, None)),
            ("postgres://a@h/d?sslmode=disable", &[("PGSSLMODE", "require")], (SslMode::Disable, None)),
            ("postgres://a@h/d", &[("PGSSLMODE", "verify-full")], (SslMode::Require, None)),
            ("postgres://a@h/d?sslrootcert=%2Fetc%2Four%20ca.pem", &[], (SslMode::Require, file("/etc/our ca.pem"))),
            (
                "postgres://a@h/d?sslmode=prefer&sslrootcert=a.pem&connect_timeout=3",
                &[("PGSSLROOTCERT", "b.pem")],
                (SslMode::Prefer, file("a.pem")),
            ),
            ("postgres://a@h/d", &[("PGSSLROOTCERT", "b.pem")], (SslMode::Require, file("b.pem"))),
            ("postgres://a@h/d?sslrootcert=system", &[], (SslMode::Require, None)),
        ] {
            assert_eq!(encryption(url, environment).expect(url), expected, "{url}");
        }
        for (url, environment, said) in [
            ("postgres://a:secret@h/d?sslmode=verify-ca", &[][..], "sslmode=verify-ca: must be disable"),
            ("postgres://a:secret@h/d", &[("PGSSLMODE", "allow")], "PGSSLMODE=allow: must be disable"),
        ] {
            let error = encryption(url, environment).expect_err(url).to_string();
            assert!(error.contains(said) && !error.contains("secret"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_socket_of_this_machine_is_not_encrypted_whatever_is_asked() {
        for url in ["postgres://ada@%2Frun%2Fpostgresql/tamis?sslmode=require", "postgres://ada@/tamis?host=/tmp"] {
            assert_eq!(read(url).unwrap().config.get_ssl_mode(), SslMode::Disable, "{url}");
        }
        assert_eq!(read("postgres://ada@db/tamis?sslmode=require").unwrap().config.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn the_password_of_any_server_of_an_address_is_found_in_the_first_line_that_fits() {
        let file = "# ours\ndb.example:5432:tamis:ada:one\n*:5433:*:ada:t\\:w\\\\o\n*:*:*:*:three\nbroken\n";
        let found = |host, port: &str, user| password(file, [host, port, "tamis", user]);
        assert_eq!(found("db.example", "5432", "ada").as_deref(), Some("one"));
        assert_eq!(found("other", "5433", "ada").as_deref(), Some("t:w\\o"));
        assert_eq!(found("other", "1", "eve").as_deref(), Some("three"));
        assert_eq!(password("a:1:b:c:d:e\n", ["a", "1", "b", "c"]), None);
        let file = "other:5432:tamis:ada:none\ntwo:7:tamis:ada:both\nlocalhost:5432:ada:ada:socket\n";
        for (url, expected) in [
            ("postgres://ada@one:6,two:7/tamis", Some("both")),
            ("postgres://ada@two:7,one:6/tamis?target_session_attrs=read-write", Some("both")),
            ("postgres://ada@one:6,two:6/tamis", None),
            ("postgres://eve@one:6,two:7/tamis", None),
            #[cfg(unix)]
            ("postgres://ada@%2Frun%2Fpostgresql", Some("socket")),
        ] {
            let config: Config = url.parse().expect(url);
            assert_eq!(in_file(file, &config, hosts(&config)).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_file_without_an_authority_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing.pem");
        let empty = directory.path().join("empty.pem");
        std::fs::write(&empty, "none\n").unwrap();
        for file in [missing, empty] {
            let Err(error) = connector(SslMode::Require, Some(&file)) else {
                panic!("{} has no certificate", file.display())
            };
            let error = error.to_string();
            assert!(error.starts_with(&*file.to_string_lossy()) && error.contains("sslrootcert"), "{error}");
        }
    }
}
