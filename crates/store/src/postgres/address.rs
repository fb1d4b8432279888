//! The address of a database: `postgres://USER@HOST:PORT/DATABASE?sslmode=…&sslrootcert=…`, with what `libpq` takes from the
//! environment beside it (PostgreSQL documentation, "Database Connection Control Functions" and "SSL Support").

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::password;
use crate::error::{Result, StoreError};

/// An address, read.
#[derive(Debug)]
pub(super) struct Address {
    pub config: Config,
    /// The file with the certificates of the authorities to trust; `None` for those that Mozilla trusts.
    pub authorities: Option<PathBuf>,
}

impl Address {
    /// Reads an address, and takes what it does not say from the environment.
    ///
    /// # Errors
    /// It is not an address, or asks for a kind of encryption that there is not.
    pub fn parse(url: &str) -> Result<Address> {
        Address::with(url, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn with(url: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Address> {
        let (url, mode, authorities) = without_encryption(url);
        let mut config: Config = url.parse().map_err(|reason: tokio_postgres::Error| {
            refused(format!("its address must be postgres://USER@HOST:PORT/DATABASE ({reason})"))
        })?;
        let authorities = authorities.or_else(|| environment("PGSSLROOTCERT"));
        let mode = mode.map(|mode| ("sslmode", mode)).or_else(|| Some(("PGSSLMODE", environment("PGSSLMODE")?)));
        config.ssl_mode(match &mode {
            // Whoever names an authority expects its certificates.
            None if authorities.is_some() => SslMode::Require,
            None => SslMode::Prefer,
            Some((name, mode)) => match mode.as_str() {
                "disable" => SslMode::Disable,
                "prefer" => SslMode::Prefer,
                // A certificate is checked, with the name of its host, wherever there is encryption.
                "require" | "verify-full" => SslMode::Require,
                _ => {
                    return Err(refused(format!("{name}={mode}: must be disable, prefer, require or verify-full")));
                }
            },
        });
        if let Some(password) = password::find(&config) {
            config.password(password);
        }
        let authorities = authorities.filter(|file| file != "system").map(PathBuf::from);
        Ok(Address { config, authorities })
    }

    /// The address for messages: host, port and database, without user and password.
    pub fn described(&self) -> String {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            #[cfg(unix)]
            Some(Host::Unix(path)) => path.display().to_string(),
            None => "localhost".to_owned(),
        };
        let port = self.config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
        format!("postgres://{host}{port}/{}", self.config.get_dbname().unwrap_or_default())
    }
}

/// Takes the parameters of encryption out of an address, since the client knows only some of their values.
fn without_encryption(url: &str) -> (String, Option<String>, Option<String>) {
    let Some((address, parameters)) = url.split_once('?') else { return (url.to_owned(), None, None) };
    let (mut mode, mut authorities) = (None, None);
    let rest: Vec<&str> = parameters
        .split('&')
        .filter(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let place = match name {
                "sslmode" => &mut mode,
                "sslrootcert" => &mut authorities,
                _ => return true,
            };
            *place = Some(percent_decode_str(value).decode_utf8_lossy().into_owned());
            false
        })
        .collect();
    let url = if rest.is_empty() { address.to_owned() } else { format!("{address}?{}", rest.join("&")) };
    (url, mode, authorities)
}

fn refused(reason: String) -> StoreError {
    StoreError::Database { path: "postgres".into(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, environment: &[(&str, &str)]) -> Result<(SslMode, Option<PathBuf>)> {
        let value =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Address::with(url, &value).map(|address| (address.config.get_ssl_mode(), address.authorities))
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
            assert_eq!(read(url, environment).expect(url), expected, "{url}");
        }
        for (url, environment, said) in [
            ("postgres://a:secret@h/d?sslmode=verify-ca", &[][..], "sslmode=verify-ca: must be disable"),
            ("postgres://a:secret@h/d", &[("PGSSLMODE", "allow")], "PGSSLMODE=allow: must be disable"),
            ("postgres://a:secret@h:port/d", &[], "postgres://USER@HOST:PORT/DATABASE"),
        ] {
            let error = read(url, environment).expect_err(url).to_string();
            assert!(error.contains(said) && !error.contains("secret"), "{error}");
        }
    }
}
