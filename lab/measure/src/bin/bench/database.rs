//! A database of one's own on the server that `TAMIS_TEST_POSTGRES` names.

use crate::clients::Result;
use tokio_postgres::NoTls;

/// Names the server.
pub const VARIABLE: &str = "TAMIS_TEST_POSTGRES";

/// An empty database that is dropped at the end.
pub struct Database {
    server: String,
    name: String,
    url: String,
}

impl Database {
    /// Creates one.
    pub fn create(prefix: &str) -> Result<Database> {
        let server = std::env::var(VARIABLE).map_err(|_| format!("{VARIABLE} must name a server, postgres://…"))?;
        let name = format!("{prefix}_{}", std::process::id());
        let (address, options) = match server.split_once('?') {
            Some((address, options)) => (address, format!("?{options}")),
            None => (server.as_str(), String::new()),
        };
        let scheme = address.find("://").map_or(0, |at| at + 3);
        let host = address[scheme..].find('/').map_or(address, |slash| &address[..scheme + slash]);
        let url = format!("{host}/{name}{options}");
        let database = Database { url, server, name };
        database.does(&format!("CREATE DATABASE {}", database.name))?;
        Ok(database)
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn does(&self, statement: &str) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.server, NoTls).await?;
            let driving = tokio::spawn(connection);
            client.batch_execute(statement).await?;
            drop(client);
            let _ = driving.await;
            Ok(())
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Err(error) = self.does(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)) {
            eprintln!("{}: {error}", self.name);
        }
    }
}
