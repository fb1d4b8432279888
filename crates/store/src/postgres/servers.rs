//! Connecting to the first of several servers that will do.

use std::future::Future;
use std::pin::Pin;

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, LoadBalanceHosts};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

/// Tries the servers of an address in order, each in its part of the time. The client's own way waits for a server that takes a
/// connection and then says nothing, such as a frozen one, and never comes to the next.
pub(super) struct InOrder<T> {
    tls: T,
    /// The address, once for each of its servers.
    each: Vec<Config>,
}

impl<T> InOrder<T> {
    pub fn new(config: &Config, tls: T) -> InOrder<T> {
        let several = config.get_hosts().len().max(config.get_hostaddrs().len());
        let each = match config.get_load_balance_hosts() {
            LoadBalanceHosts::Random => Vec::new(),
            _ => (0..several).map(|at| of_one(config, at)).collect(),
        };
        InOrder { tls, each }
    }
}

/// The address of one of the servers.
fn of_one(config: &Config, at: usize) -> Config {
    let mut one = Config::new();
    match config.get_hosts().get(at) {
        Some(Host::Tcp(host)) => drop(one.host(host)),
        #[cfg(unix)]
        Some(Host::Unix(path)) => drop(one.host_path(path)),
        None => {}
    }
    if let Some(address) = config.get_hostaddrs().get(at) {
        one.hostaddr(*address);
    }
    let ports = config.get_ports();
    if let Some(port) = ports.get(at).or(ports.first()) {
        one.port(*port);
    }
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(database) = config.get_dbname() {
        one.dbname(database);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        one.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
    one.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
    one.target_session_attrs(config.get_target_session_attrs()).channel_binding(config.get_channel_binding());
    one
}

impl<T> Connect for InOrder<T>
where
    T: MakeTlsConnect<Socket> + Clone + Sync + Send + 'static,
    T::Stream: Sync + Send,
    T::TlsConnect: Sync + Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn connect(
        &self,
        config: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        let config = config.clone();
        Box::pin(async move {
            let (client, connection) = self.open(&config).await?;
            // Its end shows in the client.
            let task = tokio::spawn(async move { drop(connection.await) });
            Ok((client, task))
        })
    }
}

type Connected<S> = (Client, tokio_postgres::Connection<Socket, S>);

impl<T> InOrder<T>
where
    T: MakeTlsConnect<Socket> + Clone,
{
    /// Connects to the first server of the address that will do.
    pub async fn open(&self, config: &Config) -> Result<Connected<T::Stream>, Error> {
        match self.each.as_slice() {
            [] | [_] => config.connect(self.tls.clone()).await,
            each => self.first(each).await,
        }
    }

    async fn first(&self, each: &[Config]) -> Result<Connected<T::Stream>, Error> {
        let mut last = None;
        for config in each {
            let part = config.get_connect_timeout().copied().unwrap_or(super::address::CONNECT_TIMEOUT);
            match tokio::time::timeout(part, config.connect(self.tls.clone())).await {
                Ok(Ok(connected)) => return Ok(connected),
                Ok(Err(error)) => last = Some(error),
                Err(_) => {}
            }
        }
        match last {
            Some(error) => Err(error),
            // All were silent. The pool's own limit ends this and says so.
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::address;

    #[test]
    fn each_server_has_all_of_the_address_but_the_others() {
        let end = "/tamis?target_session_attrs=read-write&application_name=a&options=-c%20x=1&sslmode=require\
             &channel_binding=require&keepalives_idle=7&keepalives_interval=8&keepalives_retries=9&tcp_user_timeout=10\
             &connect_timeout=3";
        let config = address::read(&format!("postgres://ada:secret@one:1,two:2{end}")).expect("read").config;
        for (at, host) in ["one:1", "two:2"].into_iter().enumerate() {
            let one = address::read(&format!("postgres://ada:secret@{host}{end}")).expect("read").config;
            assert_eq!(of_one(&config, at), one);
        }
    }
}
