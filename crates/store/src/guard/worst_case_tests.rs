//! Every allowed function, with the arguments that take it longest.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::allowed::{FUNCTIONS, Harmless};
use super::snapshot::{Place, Snapshot};
use super::{LONGEST_VALUE, Limits, STEPS};

/// The factor by which a call may exceed the reference. Quadratic time exceeds it thousands of times, and this crate's
/// own functions are not optimised in tests.
const FACTOR: u32 = 200;

/// Two values of about the maximum length, one for SQLite's functions and one for this crate's.
const REFERENCE: &str = "SELECT length(json({json})), length(replace({half}, 'a', 'bc'))";

/// Functions and statements that call them. `{long}` is a text of nearly the maximum length, `{half}` one of half that,
/// `{json}` an array of that length, `{deep}` one of the maximum nesting, `{rows}` a table of twenty rows with a value
/// `v` each.
const WORST: &[(&[&str], &[&str])] = &[
    (
        &["->", "->>", "json_extract"],
        &[
            "SELECT {json} -> '$[#-1]'",
            "SELECT {deep} ->> ('$' || replace(printf('%.*c', 998, 'x'), 'x', '[#-1]'))",
            "SELECT json_extract({json}, '$[60000]', '$[#-1]', '$.a', '$[1][2]')",
            "SELECT json_extract(json_object({half}, 1), '$.\"' || {half} || '\"')",
            "SELECT json_extract('{\"' || replace(printf('%.*c', 20000, 'x'), 'x', 'a.') || '\":1}', \
             '$.\"' || replace(printf('%.*c', 20000, 'x'), 'x', 'a.') || '\"')",
            "SELECT length('[\"' || replace(printf('%.*c', 20000, 'x'), 'x', '\\u00e9') || '\"]' ->> '$[0]')",
        ],
    ),
    (
        &["abs", "round", "sign", "ceil", "ceiling", "floor", "sqrt", "exp", "ln", "log", "log2", "log10"],
        &[
            "SELECT abs({digits}), abs('0.' || {digits}), abs('1e' || {digits}), round({digits}, 30), sign({digits})",
            "SELECT ceil({digits}), ceiling({long}), floor('0.' || {digits}), sqrt({digits}), exp({digits}), ln({digits})",
            "SELECT log({digits}), log2({digits}), log10({digits}), log({digits}, {digits})",
        ],
    ),
    (&["pow", "power", "mod"], &["SELECT pow({digits}, 2), power(2, {digits}), mod({digits}, {digits})"]),
    (&["typeof", "octet_length"], &["SELECT typeof({long}), octet_length({long})"]),
    (&["char"], &["SELECT char(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,{digits},{digits},{digits})"]),
    (&["coalesce", "ifnull", "if", "iif"], &["SELECT length(coalesce(ifnull(iif(0, 1, NULL), NULL), if(1, {long})))"]),
    (
        &["concat", "concat_ws"],
        &["SELECT length(concat({half}, {half}))", "SELECT length(concat_ws({half}, 'a', 'b', NULL))"],
    ),
    (
        &["length", "lower", "upper", "hex", "quote", "unicode", "soundex"],
        &[
            "SELECT length({long}), length(lower({long})), length(upper({long})), unicode({long})",
            "SELECT length(hex(printf('%.*c', 65000, 'x'))), length(quote(printf('%.*c', 65000, '''')))",
            "SELECT soundex({long}), soundex(printf('%.*c', 130000, '1'))",
        ],
    ),
    (
        &["max", "min", "nullif"],
        &[
            "SELECT length(max({long}, {long}, {long})), length(min({long}, {long}, {long} || 'a')), nullif({long}, {long})",
        ],
    ),
    (
        &["substr", "substring"],
        &[
            "SELECT length(substr({long}, -130000, 130000)), length(substring(replace({half}, 'a', 'é'), 60000, -60000))",
        ],
    ),
    (
        &["printf", "format"],
        &[
            "SELECT length(printf(replace(printf('%.*c', 14000, 'x'), 'x', '%.99999g'), 1.5, 2.5))",
            "SELECT length(format(replace(printf('%.*c', 40000, 'x'), 'x', '%!s'), {long}))",
            "SELECT length(format('%.130000f', 1e308)), length(printf('%,.40000d', 7))",
            "SELECT length(printf('%q', printf('%.*c', 65000, ''''))), length(printf('%!.100000s', {long}))",
        ],
    ),
    (&["instr"], &["SELECT instr({long}, {half} || 'b')"]),
    (
        &["replace"],
        &["SELECT length(replace({long}, {half} || 'b', 'c'))", "SELECT length(replace({half}, 'a', 'bc'))"],
    ),
    (
        &["trim", "ltrim", "rtrim"],
        &[
            "SELECT length(trim({long}, {other} || 'a'))",
            "SELECT length(ltrim({long}, {other} || 'a')), length(rtrim({long}, {other} || 'a')), length(trim({long}))",
        ],
    ),
    (
        &["unhex"],
        &[
            "SELECT length(unhex({long} || 'z', {other} || 'z'))",
            "SELECT length(unhex({other}, {long} || 'b'))",
            "SELECT length(unhex({digits}))",
        ],
    ),
    (
        &["like"],
        &["SELECT {long} LIKE '%' || printf('%.*c', 900, 'a') || 'b%'", "SELECT {long} LIKE '%a%a%a%a%b' ESCAPE 'x'"],
    ),
    (
        &["glob"],
        &[
            "SELECT {long} GLOB '*' || printf('%.*c', 900, '?') || 'b*'",
            "SELECT {long} GLOB '*[^' || printf('%.*c', 900, 'b') || ']b'",
        ],
    ),
    (
        &["date", "time", "datetime", "julianday", "unixepoch", "timediff"],
        &[
            "SELECT date({digits}), time({long}), datetime({digits}), julianday({digits}), unixepoch({digits}, 'auto')",
            "SELECT date('2024-01-01', '+' || {digits} || ' days'), date('2024-01-01', '+0.' || {digits} || ' months')",
            "SELECT date('9999-12-31', '-11999 years', '+119988 months', 'weekday 0', 'start of year', 'ceiling', 'localtime')",
            "SELECT timediff('9999-12-31', '-4713-11-24'), timediff('-4713-11-24', '9999-12-31'), timediff({digits}, {long})",
        ],
    ),
    (
        &["strftime"],
        &[
            "SELECT length(strftime(replace(printf('%.*c', 40000, 'x'), 'x', '%V'), '2024-01-01'))",
            "SELECT length(strftime(replace(printf('%.*c', 7000, 'x'), 'x', '%J'), '2024-01-01'))",
            "SELECT length(strftime({long}, '2024-01-01'))",
        ],
    ),
    (
        &["json", "json_valid", "json_type", "json_array_length"],
        &[
            "SELECT length(json({json})), json_valid({json}), json_type({json}), json_array_length({json})",
            "SELECT length(json({deep})), json_valid({deep}, 6), json_type({deep}, '$[0][0]'), json_array_length({deep}, '$[0]')",
            "SELECT json_valid('[/*' || printf('%.*c', 130000, '*'), 6)",
            "SELECT json_valid('[' || replace(printf('%.*c', 26000, 'x'), 'x', '/**/1') || ']', 6)",
            "SELECT json_valid('{' || replace(printf('%.*c', 26000, 'x'), 'x', 'a:1,') || '}', 2)",
            "SELECT json_valid(unhex(replace({half}, 'a', '1b')), 8), json_valid({half}, 4)",
        ],
    ),
    (
        &["json_array", "json_object", "json_quote"],
        &[
            "SELECT length(json_array(printf('%.*c', 20000, char(1)))), length(json_quote(printf('%.*c', 20000, char(1))))",
            "SELECT length(json_object(printf('%.*c', 1000, char(1)), json({json})))",
        ],
    ),
    (
        &["group_concat", "string_agg"],
        &[
            "SELECT max(n) FROM (SELECT length(group_concat(v, {half}) OVER (ORDER BY x ROWS 1 PRECEDING)) AS n FROM {rows})",
            "SELECT max(n) FROM (SELECT length(group_concat(v) OVER w) + length(string_agg(v, '-') OVER w) AS n FROM {rows} \
             WINDOW w AS (ORDER BY x ROWS BETWEEN 18 PRECEDING AND CURRENT ROW))",
        ],
    ),
    (
        &["json_group_array", "json_group_object"],
        &[
            "SELECT max(n) FROM (SELECT length(json_group_array(v) OVER w) + length(json_group_object(v, x) OVER w) AS n FROM {rows} \
           WINDOW w AS (ORDER BY x ROWS BETWEEN 10 PRECEDING AND CURRENT ROW))",
        ],
    ),
    (
        &["count", "sum", "total", "avg"],
        &[
            "SELECT count(v), sum(v), total('9' || v), avg(v), count(DISTINCT v) FROM {rows}",
            "SELECT max(n) FROM (SELECT count(v) OVER w + sum(v) OVER w + total(v) OVER w + avg(v) OVER w AS n FROM {rows} \
           WINDOW w AS (ORDER BY x ROWS BETWEEN 10 PRECEDING AND CURRENT ROW))",
        ],
    ),
    (
        &["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"],
        &[
            "SELECT max(n) FROM (SELECT row_number() OVER w + rank() OVER w + dense_rank() OVER w + percent_rank() OVER w \
           + cume_dist() OVER w + ntile(1000000000) OVER w AS n FROM {rows} WINDOW w AS (ORDER BY v))",
        ],
    ),
    (
        &["first_value", "last_value", "nth_value", "lag", "lead"],
        &[
            "SELECT max(n) FROM (SELECT length(first_value(v) OVER w) + length(last_value(v) OVER w) + length(nth_value(v, 3) OVER w) \
           + length(lag(v, 5, v) OVER w) + length(lead(v, 1000000000, v) OVER w) AS n FROM {rows} WINDOW w AS (ORDER BY v))",
        ],
    ),
    (
        &["json_each"],
        &[
            "SELECT count(*), max(key), max(value) FROM json_each({json}) WHERE key < 3",
            "SELECT count(*) FROM json_each({deep}, '$[0][0]')",
        ],
    ),
];

fn filled(sql: &str) -> String {
    let rows = "(WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 20) \
                SELECT x, printf('%.*c', 6000, 'a') || x AS v FROM r)";
    [
        ("{rows}", rows),
        ("{json}", "('[' || replace(printf('%.*c', 60000, 'x'), 'x', '1,') || '1]')"),
        ("{deep}", "(printf('%.*c', 999, '[') || printf('%.*c', 120000, '1') || printf('%.*c', 999, ']'))"),
        ("{digits}", "printf('%.*c', 130000, '9')"),
        ("{long}", "printf('%.*c', 130000, 'a')"),
        ("{other}", "printf('%.*c', 130000, 'y')"),
        ("{half}", "printf('%.*c', 64000, 'a')"),
    ]
    .into_iter()
    .fold(sql.to_owned(), |sql, (name, text)| sql.replace(name, text))
}

/// Runs an untrusted statement and returns its number of rows.
fn rows(snapshot: &Snapshot, sql: &str) -> usize {
    snapshot.watch.begin(Duration::from_millis(100), &Limits { steps: STEPS });
    let count = (|| {
        let mut statement = snapshot.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut count = 0;
        while rows.next()?.is_some() {
            count += 1;
        }
        Ok::<usize, rusqlite::Error>(count)
    })();
    snapshot.watch.end();
    match count {
        Ok(count) => count,
        // A pattern that is matched until the time limit, or a result that is too long.
        Err(error) if ["interrupted", "too big"].iter().any(|end| error.to_string().contains(end)) => 1,
        Err(error) => panic!("{sql}: {error}"),
    }
}

/// The least of three times.
fn time(snapshot: &Snapshot, sql: &str) -> Duration {
    let run = || {
        let started = Instant::now();
        assert!(rows(snapshot, sql) > 0, "{sql}");
        started.elapsed()
    };
    (0..3).map(|_| run()).min().unwrap_or_default()
}

#[test]
fn no_call_of_an_allowed_function_takes_long() {
    assert_eq!(LONGEST_VALUE, 128 << 10, "the arguments below are as long as can be");
    let snapshot = Snapshot::open("here", Place::Memory).unwrap();
    let reference = time(&snapshot, &filled(REFERENCE)).max(Duration::from_micros(100));
    for (names, statements) in WORST {
        let watched = names.iter().any(|name| FUNCTIONS.contains(&(name, Harmless::Watched)));
        let most = reference * FACTOR + if watched { Duration::from_millis(100) } else { Duration::ZERO };
        for sql in *statements {
            let taken = time(&snapshot, &filled(sql));
            println!("{:6.1} times the reference: {sql}", taken.as_secs_f64() / reference.as_secs_f64());
            assert!(taken < most, "{sql}: {taken:?}, where the reference takes {reference:?}");
        }
    }
}

#[test]
fn the_documentation_lists_the_functions_that_are_allowed() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence.md");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let (_, list) = text.split_once("These functions can be called").unwrap();
    let (list, _) = list.split_once("Each of them takes time").unwrap();
    let listed: BTreeSet<String> = list.split('`').skip(1).step_by(2).map(str::to_ascii_lowercase).collect();
    let allowed = FUNCTIONS.iter().map(|(name, _)| *name).chain(super::allowed::TABLE_FUNCTIONS.iter().copied());
    assert_eq!(listed, allowed.map(str::to_owned).collect());
}

#[test]
fn every_allowed_function_is_there_and_called_with_its_worst_arguments() {
    for (name, _) in FUNCTIONS {
        let called = |sql: &&str| {
            let sql = sql.to_ascii_lowercase();
            if name.starts_with('-') || ["like", "glob"].contains(name) {
                sql.contains(&format!(" {name} "))
            } else {
                sql.contains(&format!("{name}("))
            }
        };
        let statements = WORST.iter().filter(|(names, _)| names.contains(name)).flat_map(|(_, statements)| *statements);
        assert!(statements.filter(|sql| called(sql)).count() > 0, "{name} is called by no statement");
    }
    for (name, _) in WORST.iter().flat_map(|(names, _)| *names).map(|name| (*name, ())) {
        let allowed = FUNCTIONS.iter().any(|(known, _)| *known == name) || name == "json_each";
        assert!(allowed, "{name} is not allowed");
    }
}
