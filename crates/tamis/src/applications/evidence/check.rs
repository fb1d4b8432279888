//! Checks of a single record, independent of all others.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tamis_store::{Edge, EvidenceRecord, LONGEST_EVIDENCE_TEXT, Relation};

/// The most characters in an identifier.
const LONGEST_ID: usize = 200;

/// Checks a record's values; the error describes the first bad one.
pub(crate) fn checked(record: &EvidenceRecord) -> Result<(), String> {
    match record {
        EvidenceRecord::Task(task) => {
            id("id", &task.id)?;
            text("question", &task.question)?;
            optional("status", task.status.as_deref())?;
            time("created_at", task.created_at.as_deref())
        }
        EvidenceRecord::Work(work) => {
            id("id", &work.id)?;
            text("title", &work.title)?;
            work.authors.iter().try_for_each(|author| text("authors", author))?;
            // SQL sees them as one value.
            let written = serde_json::json!(work.authors).to_string();
            optional("authors", Some(&written))?;
            optional("venue", work.venue.as_deref())?;
            optional("doi", work.doi.as_deref())
        }
        EvidenceRecord::Page(page) => {
            id("id", &page.id)?;
            optional("url", page.url.as_deref())?;
            optional("title", page.title.as_deref())?;
            page.work_id.iter().try_for_each(|work| id("work_id", work))?;
            time("published_at", page.published_at.as_deref())?;
            time("fetched_at", page.fetched_at.as_deref())
        }
        EvidenceRecord::Fragment(fragment) => {
            id("id", &fragment.id)?;
            id("page_id", &fragment.page_id)?;
            text("text", &fragment.text)?;
            optional("heading", fragment.heading.as_deref())?;
            time("created_at", fragment.created_at.as_deref())
        }
        EvidenceRecord::Claim(claim) => {
            id("id", &claim.id)?;
            id("task_id", &claim.task_id)?;
            text("text", &claim.text)?;
            optional("type", claim.claim_type.as_deref())?;
            confidence("confidence", claim.confidence)?;
            optional("status", claim.status.as_deref())?;
            time("created_at", claim.created_at.as_deref())
        }
        EvidenceRecord::Edge(edge) => {
            id("source_id", &edge.source_id)?;
            id("target_id", &edge.target_id)?;
            ends(edge)?;
            confidence("nli_edge_confidence", edge.nli_edge_confidence)?;
            optional("note", edge.note.as_deref())?;
            time("created_at", edge.created_at.as_deref())
        }
    }
}

/// Parses a time of a record: RFC 3339 or `YYYY-MM-DD`, and nothing else, so that SQL reads it too. A date is its first
/// instant in UTC.
pub(crate) fn moment(text: &str) -> Option<Timestamp> {
    let at = |index: usize| text.as_bytes().get(index).copied();
    let dashes = at(4) == Some(b'-') && at(7) == Some(b'-');
    if text.len() == "2026-11-22".len() {
        let date = text.parse::<Date>().ok().filter(|_| dashes)?;
        return date.to_zoned(TimeZone::UTC).ok().map(|start| start.timestamp());
    }
    // The parser accepts more than RFC 3339: other separators, a comma, a time zone's name, hours without minutes.
    let fits = dashes
        && matches!(at(10), Some(b'T' | b' '))
        && at(13) == Some(b':')
        && at(16) == Some(b':')
        && !text.contains([',', '[']);
    text.parse::<Timestamp>().ok().filter(|_| fits)
}

fn id(name: &str, value: &str) -> Result<(), String> {
    let count = value.chars().count();
    if count == 0 || count > LONGEST_ID {
        return Err(format!("{name} has {count} characters: must be 1 to {LONGEST_ID}"));
    }
    match value.chars().any(char::is_control) {
        true => Err(format!("{name} {value:?} contains a control character: must not contain any")),
        false => Ok(()),
    }
}

fn text(name: &str, value: &str) -> Result<(), String> {
    match value.trim().is_empty() {
        true => Err(format!("{name} is empty: must say something")),
        false => optional(name, Some(value)),
    }
}

fn optional(name: &str, value: Option<&str>) -> Result<(), String> {
    let Some(value) = value else { return Ok(()) };
    if value.len() > LONGEST_EVIDENCE_TEXT {
        let length = value.len();
        return Err(format!(
            "{name} has {length} bytes: must be at most {LONGEST_EVIDENCE_TEXT}; divide or shorten it"
        ));
    }
    match value.contains('\0') {
        true => Err(format!("{name} contains a NUL character: must not contain any")),
        false => Ok(()),
    }
}

fn confidence(name: &str, value: Option<f64>) -> Result<(), String> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => Err(format!("{name} is {value}: must be a number from 0 to 1")),
        _ => Ok(()),
    }
}

fn time(name: &str, value: Option<&str>) -> Result<(), String> {
    match value {
        Some(value) if moment(value).is_none() => {
            Err(format!("{name} is {value:?}: must be a date (2026-11-22) or a time (2026-11-22T08:30:00Z)"))
        }
        _ => Ok(()),
    }
}

fn ends(edge: &Edge) -> Result<(), String> {
    let Edge { source_type, target_type, relation, .. } = edge;
    if relation.leads(*source_type, *target_type) {
        return Ok(());
    }
    let allowed = match relation {
        Relation::Cites => "from a page or work to a page or work",
        _ => "from a fragment to a claim",
    };
    Err(format!("relation {relation} leads from a {source_type} to a {target_type}: must lead {allowed}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamis_store::{Claim, Fragment, NodeType, Page, Task, Work};

    #[test]
    fn times_are_those_of_rfc_3339_and_dates() {
        let at = |text: &str| moment(text).map(|moment| moment.to_string());
        assert_eq!(at("2026-11-22").as_deref(), Some("2026-11-22T00:00:00Z"));
        assert_eq!(at("2026-11-22T08:30:00+01:00").as_deref(), Some("2026-11-22T07:30:00Z"));
        assert_eq!(at("2026-11-22T08:30:00.25Z").as_deref(), Some("2026-11-22T08:30:00.25Z"));
        assert_eq!(at("2026-11-22 08:30:00Z").as_deref(), Some("2026-11-22T08:30:00Z"));
        for wrong in [
            "", "2026", "2026-11", "20261122", "2026-13-01", "2026-02-30", "22.11.2026", "2026-11-22T08:30:00",
            "2026-11-22T08Z", "2026-11-22T08:30:00,5Z", "2026-11-22T08:30:00+01:00[Europe/Rome]", "yesterday", "7d",
            "2026-11-22 ",
        ] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_value_that_is_not_allowed_is_told() {
        let long = "x".repeat(LONGEST_EVIDENCE_TEXT + 1);
        let edge = Edge {
            source_type: NodeType::Fragment,
            source_id: "f".into(),
            target_type: NodeType::Claim,
            target_id: "c".into(),
            relation: Relation::Supports,
            nli_edge_confidence: None,
            note: None,
            created_at: None,
        };
        let task = Task { id: "t".into(), question: "?".into(), ..Task::default() };
        let work = Work { id: "w".into(), title: "T".into(), ..Work::default() };
        let page = Page { id: "p".into(), ..Page::default() };
        let fragment = Fragment { id: "f".into(), page_id: "p".into(), text: "It is.".into(), ..Fragment::default() };
        let claim = Claim { id: "c".into(), task_id: "t".into(), text: "It is.".into(), ..Claim::default() };
        use EvidenceRecord as R;
        let good = [
            R::Task(task.clone()),
            R::Work(work.clone()),
            R::Page(page.clone()),
            R::Fragment(Fragment { text: "x".repeat(LONGEST_EVIDENCE_TEXT), ..fragment.clone() }),
            R::Claim(Claim { confidence: Some(1.0), id: "ü".repeat(200), ..claim.clone() }),
            R::Edge(edge.clone()),
        ];
        for record in good {
            assert_eq!(checked(&record), Ok(()));
        }
        let wrong = [
            (R::Task(Task { id: String::new(), ..task.clone() }), "id has 0 characters"),
            (R::Task(Task { question: " \n".into(), ..task.clone() }), "question is empty"),
            (R::Task(Task { created_at: Some("soon".into()), ..task }), "created_at is \"soon\": must be a date"),
            (R::Work(Work { title: String::new(), ..work.clone() }), "title is empty"),
            (R::Work(Work { authors: vec!["A".into(), String::new()], ..work.clone() }), "authors is empty"),
            (R::Work(Work { authors: vec!["x".repeat(2000); 17], ..work }), "authors has 34052 bytes"),
            (R::Page(Page { id: "a\tb".into(), ..page.clone() }), "id \"a\\tb\" contains a control character"),
            (R::Page(Page { work_id: Some(String::new()), ..page.clone() }), "work_id has 0 characters"),
            (R::Page(Page { url: Some("https://a\0b".into()), ..page.clone() }), "url contains a NUL character"),
            (R::Page(Page { published_at: Some("1.2.2020".into()), ..page }), "published_at is"),
            (R::Fragment(Fragment { text: long.clone(), ..fragment.clone() }), "text has 32769 bytes: must be at most"),
            (R::Fragment(Fragment { text: String::new(), ..fragment }), "text is empty"),
            (R::Claim(Claim { id: "ü".repeat(201), ..claim.clone() }), "id has 201 characters: must be 1 to 200"),
            (R::Claim(Claim { confidence: Some(1.01), ..claim.clone() }), "confidence is 1.01: must be a number"),
            (R::Claim(Claim { confidence: Some(f64::NAN), ..claim }), "confidence is NaN"),
            (R::Edge(Edge { nli_edge_confidence: Some(-0.1), ..edge.clone() }), "nli_edge_confidence is -0.1"),
            (R::Edge(Edge { note: Some(long), ..edge.clone() }), "note has 32769 bytes"),
            (
                R::Edge(Edge { relation: Relation::Cites, ..edge }),
                "relation cites leads from a fragment to a claim: must lead from a page or work to a page or work",
            ),
        ];
        for (record, expected) in wrong {
            let reason = checked(&record).expect_err(expected);
            assert!(reason.starts_with(expected), "{reason}");
        }
    }
}
