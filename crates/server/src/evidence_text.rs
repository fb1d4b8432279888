//! Rows of the evidence graph as text.

use tamis::evidence::{SqlAnswer, SqlValue};

use crate::untrusted_text::{REST, backticks, clean, counted, fenced, first, line, name, rounded};

/// Most characters of a value.
const MAX_VALUE: usize = 300;

/// Characters reserved for everything besides the rows.
const OVERHEAD: usize = 200;

/// As many rows as fit into `max_chars`, their number, and the tables if the call asked for them.
pub(crate) fn rows_text(answer: &SqlAnswer, max_chars: usize) -> String {
    let tables: String = answer
        .schema
        .iter()
        .flatten()
        .map(|table| {
            let columns: Vec<String> =
                table.columns.iter().map(|column| format!("{} ({})", column.name, column.kind)).collect();
            format!("{}: {}\n  {}\n", table.name, table.about, columns.join(", "))
        })
        .collect();
    let room = max_chars.saturating_sub(OVERHEAD + tables.chars().count());
    let columns: Vec<String> = answer.columns.iter().map(|column| name(column)).collect();
    let mut table = first(&columns.join(" | "), room / 2).to_owned() + "\n";
    let mut shown = 0;
    for row in &answer.rows {
        let mut line = row.iter().map(value).collect::<Vec<_>>().join(" | ") + "\n";
        // A fence is longer than the longest run of backticks inside.
        let fences = 2 * (backticks(&table).max(backticks(&line)).max(2) + 2);
        let room = room.saturating_sub(table.chars().count() + fences);
        if line.chars().count() > room {
            if shown > 0 {
                break;
            }
            line = first(&line, room.saturating_sub(REST.len() + 1)).to_owned() + REST + "\n";
        }
        table.push_str(&line);
        shown += 1;
    }
    let more = match (answer.row_count - shown, answer.truncated) {
        (0, false) => String::new(),
        (0, true) => "; there are more: use LIMIT and OFFSET, or a higher limit".to_owned(),
        (left, _) => format!("; {left} more did not fit: use LIMIT and OFFSET, or a higher max_chars"),
    };
    let shortened = match answer.shortened {
        0 => String::new(),
        count => format!(", {} shortened", counted(count, "value")),
    };
    let table = if shown > 0 { fenced(&table) } else { String::new() };
    format!("{table}{}{more}{shortened} ({} ms).\n{tables}", counted(shown, "row"), rounded(answer.elapsed_ms))
}

/// A value on one line.
fn value(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => "null".to_owned(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => {
            let plain = line(&clean(text));
            let short = first(&plain, MAX_VALUE);
            if short.len() < plain.len() { format!("{short}…") } else { plain }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: usize, value: &str) -> SqlAnswer {
        let row = vec![SqlValue::Integer(1), SqlValue::Text(value.to_owned()), SqlValue::Null];
        SqlAnswer {
            columns: vec!["a".to_owned(), "b\u{202e}".repeat(400), "c".to_owned()],
            rows: vec![row; rows],
            row_count: rows,
            truncated: false,
            shortened: 0,
            elapsed_ms: 1.0,
            schema: None,
        }
    }

    #[test]
    fn rows_fit_and_the_rest_is_counted() {
        for (rows, value) in
            [(200, "ä\"`\n".repeat(80)), (1, "x".repeat(200_000)), (200, "short".to_owned()), (0, String::new())]
        {
            for max_chars in [1000, 10_000] {
                let text = rows_text(&answer(rows, &value), max_chars);
                assert!(text.chars().count() <= max_chars, "{} of {max_chars}", text.chars().count());
                let shown = text.lines().filter(|line| line.starts_with("1 | ")).count();
                let counted = counted(shown, "row");
                let more = format!("{counted}; {} more did not fit", rows - shown);
                assert!(shown == rows && text.contains(&format!("{counted} (")) || text.contains(&more), "{text}");
                assert!(rows == 0 || shown > 0, "{text}");
            }
        }
    }
}
