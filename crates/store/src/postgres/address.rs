//! The address of a database, `postgres://USER@HOST:PORT/DATABASE?sslmode=…&sslrootcert=…`: its servers, how connections to them are
//! encrypted, and how long they wait for one. The environment adds what `libpq` takes from it (PostgreSQL documentation, "Database
//! Connection Control Functions" and "SSL Support").

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::password;
use crate::error::{Result, StoreError};

/// Longest wait for a connection, to whichever of the servers.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

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
pub(super) struct Address {
    pub config: Config,
    /// The file with the certificates of the authorities to trust; `None` for those that Mozilla trusts.
    pub authorities: Option<PathBuf>,
}

/// Reads an address, `postgres://USER@HOST:PORT/DATABASE` or one with several hosts, and takes what it does not say from the
/// environment.
///
/// # Errors
/// It is not an address, or asks for a kind of encryption that there is not.
pub(super) fn read(url: &str) -> Result<Address> {
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
    if let Some(password) = password::find(&config, self::hosts(&config)) {
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

/// Number of the servers.
pub(super) fn servers(config: &Config) -> usize {
    config.get_hosts().len().max(config.get_hostaddrs().len())
}

/// Names of the servers, as the address gives them.
pub(super) fn hosts(config: &Config) -> impl Iterator<Item = (String, Option<u16>)> + '_ {
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
pub(super) fn described(config: &Config) -> String {
    let servers: Vec<String> = hosts(config)
        .map(|(host, port)| {
            // An address of the sixth version has colons of its own.
            let host = if host.contains(':') { format!("[{host}]") } else { host };
            port.map_or_else(|| host.clone(), |port| format!("{host}:{port}"))
        })
        .collect();
    format!("postgres://{}/{}", servers.join(","), config.get_dbname().unwrap_or_default())
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
        let value =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
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
}
