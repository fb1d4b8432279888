//! The password of a server, where the address has none: from the environment or the user's password file, as `libpq` finds it
//! (PostgreSQL documentation, "The Password File").

use std::path::PathBuf;

use tokio_postgres::Config;

/// Longest password file that is read.
const LONGEST_FILE: u64 = 1 << 20;

/// The port of a server that names none.
const PORT: u16 = 5432;

/// What a line of the file is for.
struct Wanted<'w> {
    host: &'w str,
    port: String,
    database: &'w str,
    user: &'w str,
}

/// Finds the password for an address that has none. `servers` are its hosts and their ports.
pub(super) fn find(config: &Config, servers: impl Iterator<Item = (String, Option<u16>)>) -> Option<String> {
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
        password(file, &Wanted { host, port, database: config.get_dbname().unwrap_or(user), user })
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

/// The password in the first line that fits: `host:port:database:user:password`, where `*` fits everything.
fn password(file: &str, wanted: &Wanted<'_>) -> Option<String> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find_map(|fields| match fields.as_slice() {
        [host, port, database, user, password] => {
            let fits = |field: &str, value: &str| field == "*" || field == value;
            let all = fits(host, wanted.host)
                && fits(port, &wanted.port)
                && fits(database, wanted.database)
                && fits(user, wanted.user);
            all.then(|| password.clone())
        }
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::super::address::hosts;
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let file = "# ours\ndb.example:5432:tamis:ada:one\n*:5433:*:ada:t\\:w\\\\o\n*:*:*:*:three\nbroken\n";
        let found =
            |host, port: &str, user| password(file, &Wanted { host, port: port.to_owned(), database: "tamis", user });
        assert_eq!(found("db.example", "5432", "ada").as_deref(), Some("one"));
        assert_eq!(found("other", "5433", "ada").as_deref(), Some("t:w\\o"));
        assert_eq!(found("other", "1", "eve").as_deref(), Some("three"));
        assert_eq!(password("a:1:b:c:d:e\n", &Wanted { host: "a", port: "1".into(), database: "b", user: "c" }), None);
    }

    #[test]
    fn the_password_of_any_server_of_an_address_is_found() {
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
}
