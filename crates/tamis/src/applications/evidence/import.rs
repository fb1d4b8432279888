//! Imports evidence: checks each record, then all together, and commits them with their documents.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

use rayon::prelude::*;
use serde_json::{Map, Value};
use tamis_store::{Change, EVIDENCE_COLLECTION, EdgeKind, EvidenceKey, EvidenceRecord, Page};

use super::check::checked;
use super::{Documented, EvidenceGraph};
use crate::Error;
use crate::error::UnreadableRecord;
use crate::handle::Index;
use crate::import::issues::{ImportInput, file_name};
use crate::import::{Content, ImportSummary, Outcome, RecordCounts, Target, namespace, origin, refuse};
use crate::progress::{Observer, Stage};

/// The number of documents that are split before the observer is asked again.
const DOCUMENTS_A_BATCH: usize = 1024;

/// Evidence to be imported.
#[derive(Clone, Debug, Default)]
pub struct EvidenceImport {
    /// The origin of the records. Forgetting the origin removes them.
    pub origin: String,
    /// The namespace to import into, created if missing. `None`: the one that the index is used in.
    pub namespace: Option<String>,
    /// The records, in any order. A record may refer to a later or a stored one.
    pub lines: Vec<EvidenceLine>,
    /// Lines of the input that could not be read.
    pub bad: Vec<UnreadableRecord>,
    /// Leave out unreadable records, and records that refer to them, instead of importing nothing.
    pub skip_bad: bool,
    /// Change nothing; report what would change.
    pub dry_run: bool,
}

/// A record and its position in the input.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceLine {
    /// The position, for messages: `graph.jsonl: line 3`.
    pub position: String,
    /// The record.
    pub record: EvidenceRecord,
}

impl EvidenceImport {
    /// Creates an import from records made by a program.
    pub fn new(origin: impl Into<String>, records: impl IntoIterator<Item = EvidenceRecord>) -> EvidenceImport {
        let line = |(at, record): (usize, _)| EvidenceLine { position: format!("record {}", at + 1), record };
        let lines = records.into_iter().enumerate().map(line).collect();
        EvidenceImport { origin: origin.into(), lines, ..EvidenceImport::default() }
    }

    /// Reads JSON Lines. `origin` names their origin; `None`: the name of the first input.
    pub fn from_inputs(inputs: &[ImportInput], origin: Option<&str>) -> EvidenceImport {
        let first = || inputs.first().map(|input| file_name(&input.name)).unwrap_or_default();
        let mut import =
            EvidenceImport { origin: origin.map_or_else(first, str::to_owned), ..EvidenceImport::default() };
        for input in inputs {
            let lines = &mut import.lines;
            read_lines(input, |position, record| lines.push(EvidenceLine { position, record }), &mut import.bad);
        }
        import
    }
}

impl EvidenceGraph<'_> {
    /// Imports evidence: all or nothing, in one transaction. A record replaces the whole stored record with the same
    /// key; an unchanged record is not written. Fragments and claims are documents, `fragment:ID` and `claim:ID`, which
    /// searches find after the next [`Index::complete`].
    ///
    /// ```
    /// use tamis::{Index, Location};
    /// use tamis::config::Config;
    /// use tamis::evidence::{EvidenceImport, EvidenceRecord};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// let index = Index::at(Location::at(directory.path(), None), Config::built_in())?;
    /// let task: EvidenceRecord =
    ///     serde_json::from_str(r#"{"record": "task", "id": "t1", "question": "Do sieves wear out?"}"#)?;
    /// let import = EvidenceImport::new("notes", [task]);
    /// assert_eq!(index.evidence().import(&import, &())?.counts.added, 1);
    /// assert_eq!(index.evidence().import(&import, &())?.counts.unchanged, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Records that are invalid, contradict each other or refer to missing ones, unless bad records are skipped; a
    /// namespace that has to be named; another process that is still writing.
    pub fn import(&self, import: &EvidenceImport, observer: &dyn Observer) -> Result<ImportSummary, Error> {
        let origin = origin(&import.origin)?;
        let namespace = namespace(self.index, import.namespace.as_deref())?;
        let target = Target::new(&namespace, EVIDENCE_COLLECTION, origin);
        let _writing = if import.dry_run { None } else { Some(self.index.wait_to_write(observer)?) };
        let started = Instant::now();
        let mut bad = import.bad.clone();
        let lines = sound(&import.lines, &mut bad);
        let lines = held(self.index, &namespace, lines, import.skip_bad, &mut bad)?;
        let bad = refuse(bad, import.skip_bad)?;
        let mut summary = ImportSummary { bad, ..target.summary(import.dry_run) };
        let given = Given::new(self.index, &namespace, &lines)?;
        summary.time("compare", started);

        let started = Instant::now();
        observer.stage(Stage::Import, lines.len() as u64);
        let mut changes = Vec::new();
        let mut divided: HashSet<EvidenceKey> = HashSet::new();
        for part in given.documents(self.index, &namespace)?.chunks(DOCUMENTS_A_BATCH) {
            if observer.cancelled() {
                return Ok(summary.stopped());
            }
            let outcomes: Result<Vec<Outcome>, Error> =
                part.par_iter().map(|one| given.outcome(self.index, &target, one)).collect();
            for (one, outcome) in part.iter().zip(outcomes?) {
                if let Outcome::Added(document) | Outcome::Updated(document) = outcome {
                    summary.counts.passages += document.passages.len() as u64;
                    divided.insert(one.key());
                    changes.push(Change::Put(*document));
                }
            }
            observer.advance(part.len() as u64);
        }
        summary.time("split", started);

        let mut records = Vec::new();
        for (key, line) in &given.lines {
            let counts = summary.records.entry(kind(&line.record).to_owned()).or_default();
            let is_changed = given.is_changed(key, &line.record);
            count(counts, given.stored.contains_key(*key), is_changed || divided.contains(*key));
            if is_changed {
                records.push(line.record.clone());
            }
        }
        summary.counts.added = summary.records.values().map(|counts| counts.added).sum();
        summary.counts.updated = summary.records.values().map(|counts| counts.updated).sum();
        summary.counts.unchanged = summary.records.values().map(|counts| counts.unchanged).sum();
        if observer.cancelled() {
            return Ok(summary.stopped());
        }
        let nothing = records.is_empty() && changes.is_empty();
        if !import.dry_run && !nothing {
            let started = Instant::now();
            self.index.note_import(&namespace);
            self.index.store.apply_evidence(&namespace, origin, &records, &changes)?;
            summary.time("commit", started);
        }
        Ok(summary)
    }
}

/// The name of a record's type in its JSON form.
fn kind(record: &EvidenceRecord) -> &'static str {
    match record {
        EvidenceRecord::Task(_) => "task",
        EvidenceRecord::Work(_) => "work",
        EvidenceRecord::Page(_) => "page",
        EvidenceRecord::Fragment(_) => "fragment",
        EvidenceRecord::Claim(_) => "claim",
        EvidenceRecord::Edge(_) => "edge",
    }
}

fn count(counts: &mut RecordCounts, known: bool, changed: bool) {
    match (known, changed) {
        (false, _) => counts.added += 1,
        (true, true) => counts.updated += 1,
        (true, false) => counts.unchanged += 1,
    }
}

/// The valid records, each once. An identical repetition is skipped.
fn sound<'i>(lines: &'i [EvidenceLine], bad: &mut Vec<UnreadableRecord>) -> Vec<(EvidenceKey, &'i EvidenceLine)> {
    let mut first: HashMap<EvidenceKey, &EvidenceLine> = HashMap::with_capacity(lines.len());
    let mut sound = Vec::with_capacity(lines.len());
    for line in lines {
        let mut refuse = |reason: String| bad.push(UnreadableRecord { position: line.position.clone(), reason });
        if let Err(reason) = checked(&line.record) {
            refuse(reason);
            continue;
        }
        let key = line.record.key();
        match first.entry(key.clone()) {
            Entry::Vacant(place) => {
                place.insert(line);
                sound.push((key, line));
            }
            Entry::Occupied(known) if known.get().record == line.record => {}
            Entry::Occupied(known) => refuse(contradiction(&key, known.get())),
        }
    }
    sound
}

/// Returns the reason why a record contradicts the first one with its key.
fn contradiction(key: &EvidenceKey, first: &EvidenceLine) -> String {
    match (key, &first.record) {
        (EvidenceKey::Edge { kind: EdgeKind::Stance, .. }, EvidenceRecord::Edge(edge)) => format!(
            "{key} is given twice, and {} says {} otherwise; a fragment takes one stand on a claim",
            first.position, edge.relation
        ),
        _ => format!("{key} is given twice, and otherwise in {}; keep one of the two", first.position),
    }
}

/// The records that refer only to given or stored records. With `skip`, records left out are missing for others too.
/// Without it nothing will be imported, and a bad line is not reported again by every record that refers to it.
fn held<'i>(
    index: &Index,
    namespace: &str,
    mut lines: Vec<(EvidenceKey, &'i EvidenceLine)>,
    skip: bool,
    bad: &mut Vec<UnreadableRecord>,
) -> Result<Vec<(EvidenceKey, &'i EvidenceLine)>, Error> {
    let mut given: HashSet<EvidenceKey> = lines.iter().map(|(key, _)| key.clone()).collect();
    let outside: BTreeSet<EvidenceKey> = lines.iter().flat_map(|(_, line)| line.record.refers_to()).collect();
    let outside = Vec::from_iter(outside);
    let stored = index.store.evidence_at(namespace, &outside)?;
    let stored: HashSet<EvidenceKey> =
        outside.into_iter().zip(stored).filter_map(|(key, record)| record.map(|_| key)).collect();
    loop {
        let mut left_out = Vec::new();
        let mut refused = Vec::new();
        lines.retain(|(key, line)| {
            let lacking = line.record.refers_to().into_iter().find(|key| !given.contains(key) && !stored.contains(key));
            let Some(lacking) = lacking else { return true };
            let reason = format!("refers to {lacking}, which is neither in the input nor stored");
            refused.push(UnreadableRecord { position: line.position.clone(), reason });
            left_out.push(key.clone());
            false
        });
        bad.extend(refused);
        if left_out.is_empty() || !skip {
            return Ok(lines);
        }
        for key in &left_out {
            given.remove(key);
        }
    }
}

/// The given records, and the stored records with the same keys.
struct Given<'i> {
    lines: Vec<(&'i EvidenceKey, &'i EvidenceLine)>,
    stored: HashMap<&'i EvidenceKey, EvidenceRecord>,
    /// The given pages, and the stored pages of given fragments.
    pages: HashMap<String, Page>,
}

impl<'i> Given<'i> {
    fn new(index: &Index, namespace: &str, lines: &'i [(EvidenceKey, &'i EvidenceLine)]) -> Result<Self, Error> {
        let keys: Vec<EvidenceKey> = lines.iter().map(|(key, _)| key.clone()).collect();
        let stored = index.store.evidence_at(namespace, &keys)?;
        let stored = lines.iter().zip(stored).filter_map(|((key, _), record)| Some((key, record?))).collect();
        let mut pages = HashMap::new();
        let mut elsewhere = BTreeSet::new();
        for (_, line) in lines {
            match &line.record {
                EvidenceRecord::Page(page) => drop(pages.insert(page.id.clone(), page.clone())),
                EvidenceRecord::Fragment(fragment) => drop(elsewhere.insert(fragment.page_id.clone())),
                _ => {}
            }
        }
        elsewhere.retain(|id| !pages.contains_key(id));
        let keys: Vec<EvidenceKey> = elsewhere.into_iter().map(EvidenceKey::Page).collect();
        for record in index.store.evidence_at(namespace, &keys)? {
            if let Some(EvidenceRecord::Page(page)) = record {
                pages.insert(page.id.clone(), page);
            }
        }
        Ok(Given { lines: lines.iter().map(|(key, line)| (key, *line)).collect(), stored, pages })
    }

    fn is_changed(&self, key: &EvidenceKey, record: &EvidenceRecord) -> bool {
        self.stored.get(key) != Some(record)
    }

    /// The given fragments and claims, and the stored fragments of changed pages, whose documents change too.
    fn documents(&self, index: &Index, namespace: &str) -> Result<Vec<Documented<'_>>, Error> {
        let mut documents = Vec::new();
        let mut fragments: HashSet<&str> = HashSet::new();
        for (_, line) in &self.lines {
            match &line.record {
                EvidenceRecord::Fragment(fragment) => {
                    fragments.insert(&fragment.id);
                    let page = self.pages.get(&fragment.page_id);
                    documents.extend(page.map(|page| Documented::Fragment(Cow::Borrowed(fragment), page)));
                }
                EvidenceRecord::Claim(claim) => documents.push(Documented::Claim(claim)),
                _ => {}
            }
        }
        for (key, line) in &self.lines {
            let EvidenceRecord::Page(page) = &line.record else { continue };
            if !self.stored.contains_key(*key) || !self.is_changed(key, &line.record) {
                continue;
            }
            let of_page = index.store.fragments_of(namespace, &page.id)?.into_iter();
            let others = of_page.filter(|fragment| !fragments.contains(fragment.id.as_str()));
            documents.extend(others.map(|fragment| Documented::Fragment(Cow::Owned(fragment), page)));
        }
        Ok(documents)
    }

    /// The outcome for a document. An unchanged record keeps its origin.
    fn outcome(&self, index: &Index, target: &Target<'_>, one: &Documented<'_>) -> Result<Outcome, Error> {
        let (key, path) = (one.key(), one.path());
        let known = index.store.document(target.namespace, &path)?;
        let record = match one {
            Documented::Fragment(Cow::Borrowed(fragment), _) => Some(EvidenceRecord::Fragment((*fragment).clone())),
            // Not given itself, but its page is.
            Documented::Fragment(Cow::Owned(_), _) => None,
            Documented::Claim(claim) => Some(EvidenceRecord::Claim((*claim).clone())),
        };
        let stays = record.is_none_or(|record| !self.is_changed(&key, &record));
        let origin = known.as_ref().and_then(|known| known.origin.as_deref()).filter(|_| stays);
        let target = Target { origin: origin.unwrap_or(target.origin), ..target.clone() };
        let content = Content::text(one.content());
        Ok(target.outcome(path, content, known.as_ref(), |options| one.document(options)))
    }
}

// Records as JSON Lines.

/// Passes on the record of each line that is not blank, with its position; unreadable lines go to `bad`.
pub(crate) fn read_lines(
    input: &ImportInput,
    mut each: impl FnMut(String, EvidenceRecord),
    bad: &mut Vec<UnreadableRecord>,
) {
    let bytes = input.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input.bytes);
    for (number, line) in (1_u64..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let position = format!("{}: line {number}", input.name);
        match std::str::from_utf8(line) {
            Err(_) => bad.push(UnreadableRecord { position, reason: "no UTF-8".to_owned() }),
            Ok(line) => match serde_json::from_str(line) {
                Ok(record) => each(position, record),
                Err(error) => bad.push(UnreadableRecord { position, reason: error_text(line, &error) }),
            },
        }
    }
}

/// The error of a line. The parser's own line number is always 1.
fn error_text(line: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    without_middle(match serde_json::from_str(line) {
        Err(_) => format!("byte {}: not valid JSON ({reason})", error.column()),
        Ok(Value::Object(record)) => wrong_field(&record).unwrap_or_else(|| reason.to_owned()),
        Ok(_) => "is not an object".to_owned(),
    })
}

/// Most fields of a record that are tried; the largest has fewer.
const FIELDS: usize = 50;

/// Names the field whose value the parser refuses, which its message leaves out: without that field, the message is another.
fn wrong_field(record: &Map<String, Value>) -> Option<String> {
    let refusal = |record: Map<String, Value>| {
        let read: Result<EvidenceRecord, _> = serde_json::from_value(Value::Object(record));
        read.err().map(|error| error.to_string())
    };
    let reason = refusal(record.clone()).filter(|_| record.len() <= FIELDS)?;
    let (refused, expected) = reason.split_once(", expected ")?;
    let expected = match expected {
        _ if refused.starts_with("unknown field") => return None,
        "a sequence" => "a list",
        "a string" => "a text",
        "f64" => "a number",
        "i32" | "i64" | "u32" | "u64" => "a whole number",
        other => other,
    };
    // Nothing is read without its kind, so that comes last.
    let (kind, fields): (Vec<_>, Vec<_>) = record.iter().partition(|(name, _)| *name == "record");
    let (name, value) = fields.into_iter().chain(kind).find(|(name, _)| {
        let mut others = record.clone();
        others.remove(*name);
        refusal(others).as_ref() != Some(&reason)
    })?;
    Some(format!("`{name}` is {value}, not {expected}"))
}

/// The most characters kept at the beginning and at the end of a message.
const TOLD: usize = 200;

/// Shortens a message in the middle. It quotes the rejected value, of any length, and ends with the values allowed.
fn without_middle(told: String) -> String {
    let characters = told.chars().count();
    if characters <= 2 * TOLD {
        return told;
    }
    let beginning: String = told.chars().take(TOLD).collect();
    let end: String = told.chars().skip(characters - TOLD).collect();
    format!("{beginning} … {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_read_by_itself() {
        let text = b"\xef\xbb\xbf{\"record\":\"task\",\"id\":\"t\",\"question\":\"?\"}\r\n\n  \n{\"record\":\"claim\",\"id\":\"c\"}\n\
            {\"record\":\"job\"}\n{\"record\":\"task\",\"id\":\"t\",\"question\":\"?\",\"why\":1}\n{\n\xff\n{\"id\":\"t\"}\n\
            {\"record\":\"task\",\"id\":\"t\",\"id\":\"u\",\"question\":\"?\"}\n\
            {\"record\":\"work\",\"id\":\"w\",\"title\":\"T\",\"authors\":\"Ada\",\"year\":\"2019\"}\n\
            {\"record\":\"edge\",\"source_id\":\"f\",\"target_type\":\"clam\"}\n[]\n"
            .to_vec();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        let input = ImportInput { name: "a.jsonl".into(), bytes: text };
        read_lines(&input, |position, record| good.push((position, record.key().to_string())), &mut bad);
        assert_eq!(good, [("a.jsonl: line 1".to_owned(), "task \"t\"".to_owned())]);
        let told: Vec<String> = bad.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "a.jsonl: line 4: missing field `task_id`",
                "a.jsonl: line 5: `record` is \"job\", not one of `task`, `work`, `page`, `fragment`, `claim`, `edge`",
                "a.jsonl: line 6: unknown field `why`, expected one of `id`, `question`, `status`, `created_at`",
                "a.jsonl: line 7: byte 1: not valid JSON (EOF while parsing an object)",
                "a.jsonl: line 8: no UTF-8",
                "a.jsonl: line 9: missing field `record`",
                "a.jsonl: line 10: duplicate field `id`",
                "a.jsonl: line 11: `authors` is \"Ada\", not a list",
                "a.jsonl: line 12: `target_type` is \"clam\", not one of `fragment`, `claim`, `page`, `work`",
                "a.jsonl: line 13: is not an object",
            ]
        );

        let text = format!("{{\"record\": \"{}\"}}\n", "x".repeat(100_000));
        let mut bad = Vec::new();
        let input = ImportInput { name: "a.jsonl".into(), bytes: text.into_bytes() };
        read_lines(&input, |_, _| panic!("no record"), &mut bad);
        assert!(bad[0].reason.chars().count() < 500, "{}", bad[0].reason);
        assert!(bad[0].reason.starts_with("`record` is \"xxx"), "{}", bad[0].reason);
        assert!(bad[0].reason.ends_with("`claim`, `edge`"), "{}", bad[0].reason);
    }
}
