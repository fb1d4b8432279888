//! Writing records of the evidence graph: all of a kind with one statement.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use deadpool_postgres::Transaction;

use super::super::copy::{storable, storable_option};
use super::super::error::Failure;
use super::super::namespaces::change_number;
use super::super::store::PostgresStore;
use super::records::present;
use crate::error::StoreError;
use crate::evidence::{Claim, Edge, EvidenceKey, EvidenceRecord, Fragment, Page, Relation, Task, Work, domain};
use crate::record::{Applied, Change};

/// Texts of a column.
type Texts<'a> = Vec<Cow<'a, str>>;
/// Texts of a column that may be null.
type OptionalTexts<'a> = Vec<Option<Cow<'a, str>>>;

/// Writes records and applies document changes.
pub(super) async fn apply(
    store: &PostgresStore,
    transaction: &Transaction<'_>,
    namespace: &str,
    origin: &str,
    records: &[EvidenceRecord],
    changes: &[Change],
) -> Result<Applied, Failure> {
    let also = BTreeSet::from([namespace.to_owned()]);
    let (mut applied, mut tasks) = store.apply_documents(transaction, changes, also).await?;
    if let Some(error) = records.iter().find_map(misdirected) {
        return Err(error.into());
    }
    Writer { transaction, namespace, origin }.write(records).await?;
    tasks.records(transaction, namespace, records).await?;
    check(transaction, namespace, records).await?;
    tasks.apply(transaction).await?;
    super::changed(transaction, &[namespace]).await?;
    applied.seq = change_number(transaction).await?;
    Ok(applied)
}

/// The error of an edge between records that its relation does not connect.
fn misdirected(record: &EvidenceRecord) -> Option<StoreError> {
    let EvidenceRecord::Edge(Edge { source_type, target_type, relation, .. }) = record else { return None };
    if relation.leads(*source_type, *target_type) {
        return None;
    }
    let ends = match relation {
        Relation::Cites => "from a page or work to a page or work",
        _ => "from a fragment to a claim",
    };
    let reason = format!("leads from a {source_type} to a {target_type}; {relation} leads {ends}");
    Some(StoreError::Invalid { what: record.key().to_string(), reason })
}

/// Fails if the document of a record, or a record that it refers to, is missing.
async fn check(transaction: &Transaction<'_>, namespace: &str, records: &[EvidenceRecord]) -> Result<(), Failure> {
    let wanted: HashSet<EvidenceKey> = records.iter().flat_map(EvidenceRecord::refers_to).collect();
    let known = present(transaction, namespace, &wanted).await?;
    let paths: Vec<String> = records.iter().filter_map(EvidenceRecord::path).collect();
    let stored: Texts<'_> = paths.iter().map(|path| storable(path)).collect();
    let select =
        transaction.prepare_cached("SELECT path FROM documents WHERE namespace = $1 AND path = ANY($2)").await?;
    let rows = transaction.query(&select, &[&namespace, &stored]).await?;
    let documents: HashSet<String> = rows.iter().map(|row| row.get(0)).collect();
    for record in records {
        let invalid = |reason: String| StoreError::Invalid { what: record.key().to_string(), reason };
        if let Some(key) = record.refers_to().into_iter().find(|key| !known.contains(key)) {
            return Err(invalid(format!("refers to {key}, which is not there; add that first, or with it")).into());
        }
        if let Some(path) = record.path().filter(|path| !documents.contains(storable(path).as_ref())) {
            return Err(
                invalid(format!("has no document {path}, by which it would be found; put both together")).into()
            );
        }
    }
    Ok(())
}

/// Writes records of one origin into a namespace.
struct Writer<'t, 'c> {
    transaction: &'t Transaction<'c>,
    namespace: &'t str,
    origin: &'t str,
}

/// Records by kind, each key once.
#[derive(Default)]
struct Kinds<'a> {
    tasks: Vec<&'a Task>,
    works: Vec<&'a Work>,
    pages: Vec<&'a Page>,
    fragments: Vec<&'a Fragment>,
    claims: Vec<&'a Claim>,
    edges: Vec<&'a Edge>,
}

impl Writer<'_, '_> {
    /// Writes records. Each replaces the one with the same key, so of several the last one stays.
    async fn write(&self, records: &[EvidenceRecord]) -> Result<(), Failure> {
        let last: HashMap<EvidenceKey, usize> =
            records.iter().enumerate().map(|(place, record)| (record.key(), place)).collect();
        let mut kinds = Kinds::default();
        for (place, record) in records.iter().enumerate() {
            if last.get(&record.key()) != Some(&place) {
                continue;
            }
            match record {
                EvidenceRecord::Task(task) => kinds.tasks.push(task),
                EvidenceRecord::Work(work) => kinds.works.push(work),
                EvidenceRecord::Page(page) => kinds.pages.push(page),
                EvidenceRecord::Fragment(fragment) => kinds.fragments.push(fragment),
                EvidenceRecord::Claim(claim) => kinds.claims.push(claim),
                EvidenceRecord::Edge(edge) => kinds.edges.push(edge),
            }
        }
        self.tasks(&kinds.tasks).await?;
        self.works(&kinds.works).await?;
        self.pages(&kinds.pages).await?;
        self.fragments(&kinds.fragments).await?;
        self.claims(&kinds.claims).await?;
        self.edges(&kinds.edges).await
    }

    async fn tasks(&self, tasks: &[&Task]) -> Result<(), Failure> {
        if tasks.is_empty() {
            return Ok(());
        }
        let put = "INSERT INTO evidence_tasks(namespace, origin, id, question, status, created_at) \
            SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) \
            ON CONFLICT (namespace, id) DO UPDATE SET question = excluded.question, status = excluded.status, \
            created_at = excluded.created_at, origin = excluded.origin";
        let put = self.transaction.prepare_cached(put).await?;
        let ids: Texts<'_> = tasks.iter().map(|task| storable(&task.id)).collect();
        let questions: Texts<'_> = tasks.iter().map(|task| storable(&task.question)).collect();
        let statuses: OptionalTexts<'_> = tasks.iter().map(|task| storable_option(task.status.as_deref())).collect();
        let created: OptionalTexts<'_> = tasks.iter().map(|task| storable_option(task.created_at.as_deref())).collect();
        self.transaction
            .execute(&put, &[&self.namespace, &storable(self.origin), &ids, &questions, &statuses, &created])
            .await?;
        Ok(())
    }

    async fn works(&self, works: &[&Work]) -> Result<(), Failure> {
        if works.is_empty() {
            return Ok(());
        }
        let put = "INSERT INTO evidence_works(namespace, origin, id, title, authors, year, venue, doi, citation_count) \
            SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::bigint[]) \
            ON CONFLICT (namespace, id) DO UPDATE SET title = excluded.title, authors = excluded.authors, year = excluded.year, \
            venue = excluded.venue, doi = excluded.doi, citation_count = excluded.citation_count, origin = excluded.origin";
        let put = self.transaction.prepare_cached(put).await?;
        let ids: Texts<'_> = works.iter().map(|work| storable(&work.id)).collect();
        let titles: Texts<'_> = works.iter().map(|work| storable(&work.title)).collect();
        let authors: Vec<Option<String>> = works
            .iter()
            .map(|work| (!work.authors.is_empty()).then(|| serde_json::json!(work.authors).to_string()))
            .collect();
        let years: Vec<Option<i64>> = works.iter().map(|work| work.year).collect();
        let venues: OptionalTexts<'_> = works.iter().map(|work| storable_option(work.venue.as_deref())).collect();
        let dois: OptionalTexts<'_> = works.iter().map(|work| storable_option(work.doi.as_deref())).collect();
        let counts: Vec<Option<i64>> = works.iter().map(|work| work.citation_count.map(i64::from)).collect();
        self.transaction
            .execute(
                &put,
                &[&self.namespace, &storable(self.origin), &ids, &titles, &authors, &years, &venues, &dois, &counts],
            )
            .await?;
        Ok(())
    }

    async fn pages(&self, pages: &[&Page]) -> Result<(), Failure> {
        if pages.is_empty() {
            return Ok(());
        }
        let put = "INSERT INTO evidence_pages(namespace, origin, id, url, domain, title, work_id, published_at, fetched_at) \
            SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]) \
            ON CONFLICT (namespace, id) DO UPDATE SET url = excluded.url, domain = excluded.domain, title = excluded.title, \
            work_id = excluded.work_id, published_at = excluded.published_at, fetched_at = excluded.fetched_at, \
            origin = excluded.origin";
        let put = self.transaction.prepare_cached(put).await?;
        let ids: Texts<'_> = pages.iter().map(|page| storable(&page.id)).collect();
        let domains: Vec<Option<String>> = pages
            .iter()
            .map(|page| page.url.as_deref().and_then(domain).map(|domain| storable(&domain).into_owned()))
            .collect();
        let optional = |value: fn(&Page) -> Option<&str>| -> OptionalTexts<'_> {
            pages.iter().map(|page| storable_option(value(page))).collect()
        };
        let (urls, titles) = (optional(|page| page.url.as_deref()), optional(|page| page.title.as_deref()));
        let works = optional(|page| page.work_id.as_deref());
        let published = optional(|page| page.published_at.as_deref());
        let fetched = optional(|page| page.fetched_at.as_deref());
        let origin = storable(self.origin);
        self.transaction
            .execute(&put, &[&self.namespace, &origin, &ids, &urls, &domains, &titles, &works, &published, &fetched])
            .await?;
        Ok(())
    }

    async fn fragments(&self, fragments: &[&Fragment]) -> Result<(), Failure> {
        if fragments.is_empty() {
            return Ok(());
        }
        let put = "INSERT INTO evidence_fragments(namespace, id, page_id, text, heading, position, created_at) \
            SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[]) \
            ON CONFLICT (namespace, id) DO UPDATE SET page_id = excluded.page_id, text = excluded.text, \
            heading = excluded.heading, position = excluded.position, created_at = excluded.created_at";
        let put = self.transaction.prepare_cached(put).await?;
        let text = |value: fn(&Fragment) -> &str| -> Texts<'_> {
            fragments.iter().map(|fragment| storable(value(fragment))).collect()
        };
        let optional = |value: fn(&Fragment) -> Option<&str>| -> OptionalTexts<'_> {
            fragments.iter().map(|fragment| storable_option(value(fragment))).collect()
        };
        let (ids, pages, texts) =
            (text(|fragment| &fragment.id), text(|fragment| &fragment.page_id), text(|fragment| &fragment.text));
        let headings = optional(|fragment| fragment.heading.as_deref());
        let positions: Vec<Option<i64>> = fragments.iter().map(|fragment| fragment.position.map(i64::from)).collect();
        let created = optional(|fragment| fragment.created_at.as_deref());
        self.transaction
            .execute(&put, &[&self.namespace, &ids, &pages, &texts, &headings, &positions, &created])
            .await?;
        Ok(())
    }

    async fn claims(&self, claims: &[&Claim]) -> Result<(), Failure> {
        if claims.is_empty() {
            return Ok(());
        }
        let put = "INSERT INTO evidence_claims(namespace, id, task_id, text, type, confidence, status, created_at) \
            SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::double precision[], $7::text[], $8::text[]) \
            ON CONFLICT (namespace, id) DO UPDATE SET task_id = excluded.task_id, text = excluded.text, type = excluded.type, \
            confidence = excluded.confidence, status = excluded.status, created_at = excluded.created_at";
        let put = self.transaction.prepare_cached(put).await?;
        let text =
            |value: fn(&Claim) -> &str| -> Texts<'_> { claims.iter().map(|claim| storable(value(claim))).collect() };
        let optional = |value: fn(&Claim) -> Option<&str>| -> OptionalTexts<'_> {
            claims.iter().map(|claim| storable_option(value(claim))).collect()
        };
        let (ids, tasks, texts) = (text(|claim| &claim.id), text(|claim| &claim.task_id), text(|claim| &claim.text));
        let types = optional(|claim| claim.claim_type.as_deref());
        let confidences: Vec<Option<f64>> = claims.iter().map(|claim| claim.confidence).collect();
        let statuses = optional(|claim| claim.status.as_deref());
        let created = optional(|claim| claim.created_at.as_deref());
        self.transaction
            .execute(&put, &[&self.namespace, &ids, &tasks, &texts, &types, &confidences, &statuses, &created])
            .await?;
        Ok(())
    }

    /// Writes edges. A stance replaces the fragment's previous one.
    async fn edges(&self, edges: &[&Edge]) -> Result<(), Failure> {
        if edges.is_empty() {
            return Ok(());
        }
        let ends = |edges: &[&'_ Edge]| -> (Vec<&str>, Vec<String>, Vec<&str>, Vec<String>) {
            (
                edges.iter().map(|edge| edge.source_type.as_str()).collect(),
                edges.iter().map(|edge| storable(&edge.source_id).into_owned()).collect(),
                edges.iter().map(|edge| edge.target_type.as_str()).collect(),
                edges.iter().map(|edge| storable(&edge.target_id).into_owned()).collect(),
            )
        };
        let stances: Vec<&Edge> = edges.iter().copied().filter(|edge| edge.relation.is_stance()).collect();
        if !stances.is_empty() {
            let delete = "DELETE FROM evidence_edges e USING unnest($2::text[], $3::text[], $4::text[], $5::text[]) \
                AS n(source_type, source_id, target_type, target_id) WHERE e.namespace = $1 AND e.source_type = n.source_type \
                AND e.source_id = n.source_id AND e.target_type = n.target_type AND e.target_id = n.target_id \
                AND e.relation IN ('supports', 'refutes', 'neutral')";
            let delete = self.transaction.prepare_cached(delete).await?;
            let (source_types, sources, target_types, targets) = ends(&stances);
            self.transaction
                .execute(&delete, &[&self.namespace, &source_types, &sources, &target_types, &targets])
                .await?;
        }
        let put = "INSERT INTO evidence_edges(namespace, origin, source_type, source_id, target_type, target_id, relation, \
            nli_edge_confidence, note, created_at) SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], \
            $7::text[], $8::double precision[], $9::text[], $10::text[]) \
            ON CONFLICT (namespace, source_type, source_id, target_type, target_id, relation) DO UPDATE SET \
            nli_edge_confidence = excluded.nli_edge_confidence, note = excluded.note, created_at = excluded.created_at, \
            origin = excluded.origin";
        let put = self.transaction.prepare_cached(put).await?;
        let (source_types, sources, target_types, targets) = ends(edges);
        let relations: Vec<&str> = edges.iter().map(|edge| edge.relation.as_str()).collect();
        let confidences: Vec<Option<f64>> = edges.iter().map(|edge| edge.nli_edge_confidence).collect();
        let notes: OptionalTexts<'_> = edges.iter().map(|edge| storable_option(edge.note.as_deref())).collect();
        let created: OptionalTexts<'_> = edges.iter().map(|edge| storable_option(edge.created_at.as_deref())).collect();
        self.transaction
            .execute(
                &put,
                &[
                    &self.namespace,
                    &storable(self.origin),
                    &source_types,
                    &sources,
                    &target_types,
                    &targets,
                    &relations,
                    &confidences,
                    &notes,
                    &created,
                ],
            )
            .await?;
        Ok(())
    }
}
