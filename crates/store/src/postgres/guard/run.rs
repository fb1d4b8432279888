//! Running one statement: in a read-only transaction, as the reader, on a connection of its own for that time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::Object;
use tokio::sync::Notify;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::errors::{TEMPORARY_BYTES, explain};
use super::parser::Translated;
use super::values::Sent;
use crate::error::StoreError;
use crate::postgres::connection::{Canceller, Connections};
use crate::postgres::error::Failure;
use crate::sql::{SqlQuery, SqlRows};
use crate::sqlite::guard::collect::{CollectedRow, Collector};
use crate::sqlite::guard::errors::{self, ended};
use crate::sqlite::guard::slots::{Slot, SlotWaiter};
use crate::sqlite::guard::watch::Ended;
use crate::sqlite::guard::{CANCEL_INTERVAL, COLUMNS, values};

/// Makes the role that statements run as.
const READER: &str = include_str!("reader.sql");

/// Time beyond the limit for a server to answer that the limit has passed.
const GRACE: Duration = Duration::from_millis(100);

/// Settings of the transaction. The namespace is sealed before the role changes, since the reader cannot seal.
const SETTINGS: &str = "SELECT set_config('tamis.scope', sealed($1), true), set_config('statement_timeout', $2, true), \
    CASE WHEN has_parameter_privilege('temp_file_limit', 'SET') THEN set_config('temp_file_limit', $3, true) END, \
    set_config('work_mem', '8MB', true), set_config('hash_mem_multiplier', '1', true), \
    set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true), \
    set_config('idle_in_transaction_session_timeout', '10s', true), set_config('extra_float_digits', '1', true), \
    set_config('bytea_output', 'hex', true), set_config('DateStyle', 'ISO', true), \
    set_config('search_path', 'tamis_sql, pg_catalog, pg_temp', true), set_config('role', 'tamis_reader', true), \
    has_schema_privilege('tamis_reader', 'tamis_sql', 'USAGE') \
      AND has_table_privilege('tamis_reader', 'tamis_sql.claims', 'SELECT') AND (SELECT proowner = to_regrole('tamis_reader') \
      FROM pg_proc WHERE oid = 'tamis_sql.answer(text, text[], bigint, bigint)'::regprocedure) AS is_ready";

/// Runs a statement for a caller who waits no longer than its time limit.
pub(super) async fn run(
    connections: &Connections,
    namespace: &str,
    query: &SqlQuery,
    translated: Translated,
    (slot, waiter): (Slot, SlotWaiter),
    cancelled: &dyn Fn() -> bool,
) -> Result<SqlRows, Failure> {
    let connection = connections.connection().await?;
    let stop = Arc::new(Notify::new());
    let statement = Statement {
        namespace: namespace.to_owned(),
        query: query.clone(),
        translated,
        canceller: connections.canceller(),
        stop: stop.clone(),
    };
    let started = Instant::now();
    // A task of its own, since the server may take longer to stop than the caller waits.
    let mut task = connections.spawn(async move {
        let result = statement.run(connection).await;
        drop(slot);
        result
    });
    let give_up = started + query.timeout + query.timeout / 10 + GRACE;
    loop {
        let why = match tokio::time::timeout(CANCEL_INTERVAL, &mut task).await {
            Ok(Ok(result)) => return result,
            Ok(Err(_)) => {
                return Err(errors::refusal("the statement failed", errors::ALLOWED).into());
            }
            Err(_) if cancelled() => Ended::Cancelled,
            Err(_) if Instant::now() > give_up => Ended::Time,
            Err(_) => continue,
        };
        waiter.abandon();
        stop.notify_one();
        return Err(ended(why, query.timeout).into());
    }
}

/// A statement with what it needs to run.
struct Statement {
    namespace: String,
    query: SqlQuery,
    translated: Translated,
    canceller: Canceller,
    stop: Arc<Notify>,
}

impl Statement {
    /// Runs the statement, and returns the connection to its pool as it was.
    async fn run(self, mut connection: Object) -> Result<SqlRows, Failure> {
        let token = connection.cancel_token();
        let mut was_cancelled = false;
        let result = {
            let work = self.answered(&mut connection);
            tokio::pin!(work);
            tokio::select! {
                result = &mut work => result,
                () = self.stop.notified() => {
                    was_cancelled = true;
                    self.canceller.cancel(token).await;
                    work.await
                }
            }
        };
        // Locks of a session outlive its transaction, if a statement ever got so far as to take one.
        let clean = connection.batch_execute("ROLLBACK; SELECT pg_advisory_unlock_all()").await.is_ok();
        // A late request to cancel would meet the next statement.
        if was_cancelled || !clean {
            drop(Object::take(connection));
        }
        result
    }

    async fn answered(&self, connection: &mut Object) -> Result<SqlRows, Failure> {
        let mut repaired = false;
        loop {
            match self.begin(connection).await {
                Ok(true) => {
                    let rows = self.rows(connection).await;
                    return rows.map_err(|failure| explain(failure, &self.query.sql, self.query.timeout));
                }
                Err(failure) if !lacks_reader(&failure) => return Err(failure),
                Ok(false) | Err(_) if repaired => return Err(without_reader().into()),
                Ok(false) | Err(_) => {}
            }
            // The tables may come from a copy without rights. Or an administrator has made the role since they were created.
            repaired = true;
            connection.batch_execute("ROLLBACK").await?;
            connection.batch_execute(READER).await?;
        }
    }

    /// The rows of the statement, within the transaction.
    async fn rows(&self, connection: &Object) -> Result<SqlRows, Failure> {
        let sql = &self.translated.sql;
        let described = connection.prepare_typed(sql, &[Type::TEXT_ARRAY]).await?;
        let kinds: Vec<Type> = described.columns().iter().map(|column| column.type_().clone()).collect();
        if kinds.len() > COLUMNS {
            return Err(errors::too_wide("too many columns in result set").into());
        }
        let names: Vec<&str> = described.columns().iter().map(|column| column.name()).collect();
        let names = self.translated.named(&names);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let answer = "SELECT shown, lengths FROM tamis_sql.answer($1, $2, $3, $4)";
        let (limit, bytes) = (self.query.limit as i64, self.query.max_bytes as i64);
        let rows = connection
            .query(answer, &[&as_texts(sql, kinds.len()), &self.translated.parameters, &limit, &bytes])
            .await?;
        let mut collector = Collector::new(&names, &self.query);
        for row in &rows {
            let texts: Vec<Option<&str>> = row.try_get(0)?;
            let lengths: Vec<Option<i64>> = row.try_get(1)?;
            let read = |longest| -> Result<CollectedRow, Failure> {
                let mut read = CollectedRow::new(kinds.len());
                for (kind, (text, length)) in kinds.iter().zip(texts.iter().zip(&lengths)) {
                    let (value, shortened) = Sent { kind, text: *text, length: *length }.value(longest);
                    read.push(value, shortened);
                }
                Ok(read)
            };
            if !collector.add(read)? {
                break;
            }
        }
        Ok(collector.end())
    }

    /// Begins a transaction that only reads, with the reader's rights and the limits. Returns `false` if the reader lacks rights.
    async fn begin(&self, connection: &Object) -> Result<bool, Failure> {
        connection.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let settings = connection.prepare_cached(SETTINGS).await?;
        let timeout = format!("{}ms", self.query.timeout.as_millis().max(1));
        let files = format!("{}kB", TEMPORARY_BYTES >> 10);
        let row = connection.query_one(&settings, &[&self.namespace, &timeout, &files]).await?;
        Ok(row.try_get::<_, Option<bool>>("is_ready")?.unwrap_or(false))
    }
}

impl Translated {
    /// The names of the columns: the statement's own, or the server's where a star stands for several.
    fn named(&self, described: &[&str]) -> Vec<String> {
        let stars = self.names.iter().filter(|name| name.is_none()).count();
        if stars > 1 || self.names.is_empty() || self.names.len() > described.len() + stars {
            return described.iter().map(|name| (*name).to_owned()).collect();
        }
        let of_star = described.len() - (self.names.len() - stars);
        let mut rest = described.iter();
        let mut names = Vec::with_capacity(described.len());
        for name in &self.names {
            match name {
                Some(name) => {
                    rest.next();
                    names.push(name.clone());
                }
                None => names.extend(rest.by_ref().take(of_star).map(|name| (*name).to_owned())),
            }
        }
        names
    }
}

/// The statement with its values as texts, and the lengths of those that are longer than an answer shows.
fn as_texts(sql: &str, width: usize) -> String {
    let list = |one: &dyn Fn(usize) -> String| (1..=width).map(one).collect::<Vec<_>>().join(", ");
    let longest = values::LONGEST;
    let shown = list(&|at| format!("pg_catalog.left(c{at}::text, {longest})"));
    let lengths = list(&|at| {
        format!("CASE WHEN pg_catalog.length(c{at}::text) > {longest} THEN pg_catalog.length(c{at}::text)::bigint END")
    });
    let columns = list(&|at| format!("c{at}"));
    format!("SELECT ARRAY[{shown}]::text[], ARRAY[{lengths}]::bigint[] FROM ({sql}) AS answer({columns})")
}

/// Returns `true` if the role of statements is missing, or lacks its rights.
fn lacks_reader(failure: &Failure) -> bool {
    let Failure::Server(error) = failure else { return false };
    let codes = [SqlState::UNDEFINED_OBJECT, SqlState::INVALID_PARAMETER_VALUE, SqlState::INSUFFICIENT_PRIVILEGE];
    error.code().is_some_and(|code| codes.contains(code))
}

/// The error where the role of statements cannot be made.
fn without_reader() -> StoreError {
    errors::refusal(
        "SQL needs the role tamis_reader, which this server does not have, or which the user of this index may not take on",
        "ask an administrator to run: CREATE ROLE tamis_reader NOLOGIN; GRANT tamis_reader TO the user of this index WITH SET TRUE",
    )
}
