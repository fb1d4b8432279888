//! Counting what the tables hold.

use std::collections::HashMap;

use super::models;
use crate::record::ModelKey;
use crate::report::{Count, Coverage, ModelSummary, Summary};
use crate::session::{Row, Session, all, first, read};

/// Counts documents, passages and vectors. What the tables do not say stays empty.
pub(crate) async fn summary<E>(session: &dyn Session<E>) -> Result<Summary, E> {
    let dialect = session.dialect();
    let totals = "SELECT count(*), CAST(coalesce(sum(passages), 0) AS bigint) FROM documents";
    let totals = first(session, totals, &[], |row| Ok((row.next()?, row.next()?))).await?;
    let (documents, passages) = totals.unwrap_or_default();
    let by_document = async |column: &str| {
        let select = format!(
            "SELECT {column}, count(*), CAST(sum(passages) AS bigint) FROM documents GROUP BY {column} ORDER BY {column}"
        );
        counts(session, &select).await
    };
    let by_language = format!(
        "SELECT coalesce(p.language, d.language, ''), count(DISTINCT p.document), count(*) FROM {} GROUP BY 1 ORDER BY 1",
        dialect.passages
    );
    let by_role = "SELECT role, count(DISTINCT document), count(*) FROM passages GROUP BY role ORDER BY role";
    let by_model = async |select: &str| -> Result<HashMap<i32, u64>, E> {
        Ok(all(session, select, &[], |row| Ok((row.next()?, row.next()?))).await?.into_iter().collect())
    };
    let vectors = by_model("SELECT model, count(*) FROM vectors GROUP BY model").await?;
    let embedded = format!(
        "SELECT v.model, count(*) FROM passages p JOIN vectors v ON {} GROUP BY v.model",
        dialect.vector_of_passage
    );
    let embedded = by_model(&embedded).await?;
    let of_model = |model: super::Model| {
        let of = |counts: &HashMap<i32, u64>| counts.get(&model.number).copied().unwrap_or(0);
        ModelSummary {
            vectors: of(&vectors),
            coverage: Coverage { passages, embedded: of(&embedded) },
            model: ModelKey { id: model.name, dimension: model.dimension },
            file_seq: None,
        }
    };
    Ok(Summary {
        documents,
        passages,
        namespaces: by_document("namespace").await?,
        collections: by_document("collection").await?,
        languages: counts(session, &by_language).await?,
        roles: counts(session, by_role).await?,
        models: models(session).await?.into_iter().map(of_model).collect(),
        ..Summary::default()
    })
}

async fn counts<E>(session: &dyn Session<E>, select: &str) -> Result<Vec<Count>, E> {
    let count = |row: &mut Row| Ok(read!(row => Count { name, documents, passages }));
    all(session, select, &[], count).await
}
