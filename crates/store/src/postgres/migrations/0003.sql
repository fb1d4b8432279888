-- The evidence graph of each namespace. Its searchable records, fragments and claims, are documents as well,
-- `fragment:ID` and `claim:ID`, written in the same transaction; the documents hold their origin.
--
-- Texts have the collation "C", so that they are ordered by their bytes on every server.
CREATE TABLE evidence_tasks(
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  question text COLLATE "C" NOT NULL,
  status text COLLATE "C",
  created_at text COLLATE "C",      -- RFC 3339 or a date, as given, like all times here
  origin text COLLATE "C" NOT NULL,             -- the import's origin
  PRIMARY KEY (namespace, id)
);

CREATE TABLE evidence_works(
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  title text COLLATE "C" NOT NULL,
  authors text COLLATE "C",         -- a JSON array of names
  year bigint,
  venue text COLLATE "C",
  doi text COLLATE "C",
  citation_count bigint,
  origin text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, id)
);

CREATE TABLE evidence_pages(
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  url text COLLATE "C",
  domain text COLLATE "C",          -- the host of the address, computed
  title text COLLATE "C",
  work_id text COLLATE "C",
  published_at text COLLATE "C",
  fetched_at text COLLATE "C",
  origin text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, id),
  FOREIGN KEY (namespace, work_id) REFERENCES evidence_works(namespace, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX evidence_pages_work ON evidence_pages(namespace, work_id) WHERE work_id IS NOT NULL;

CREATE TABLE evidence_fragments(
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  page_id text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  heading text COLLATE "C",
  position bigint,                  -- its position on the page, from 0
  created_at text COLLATE "C",
  PRIMARY KEY (namespace, id),
  FOREIGN KEY (namespace, page_id) REFERENCES evidence_pages(namespace, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX evidence_fragments_page ON evidence_fragments(namespace, page_id, position);

CREATE TABLE evidence_claims(
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  type text COLLATE "C",
  confidence double precision CHECK (confidence BETWEEN 0 AND 1),
  status text COLLATE "C",
  created_at text COLLATE "C",
  PRIMARY KEY (namespace, id),
  FOREIGN KEY (namespace, task_id) REFERENCES evidence_tasks(namespace, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX evidence_claims_task ON evidence_claims(namespace, task_id);

CREATE TABLE evidence_edges(
  namespace text COLLATE "C" NOT NULL,
  source_type text COLLATE "C" NOT NULL CHECK (source_type IN ('fragment', 'page', 'work')),
  source_id text COLLATE "C" NOT NULL,
  target_type text COLLATE "C" NOT NULL CHECK (target_type IN ('claim', 'page', 'work')),
  target_id text COLLATE "C" NOT NULL,
  relation text COLLATE "C" NOT NULL CHECK (relation IN ('origin', 'supports', 'refutes', 'neutral', 'cites')),
  nli_edge_confidence double precision CHECK (nli_edge_confidence BETWEEN 0 AND 1),
  note text COLLATE "C",
  created_at text COLLATE "C",
  origin text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, source_type, source_id, target_type, target_id, relation)
);
CREATE INDEX evidence_edges_target ON evidence_edges(namespace, target_type, target_id, relation);
-- A fragment has at most one stance on a claim.
CREATE UNIQUE INDEX evidence_edges_stand ON evidence_edges(namespace, source_type, source_id, target_type, target_id)
  WHERE relation IN ('supports', 'refutes', 'neutral');

-- What untrusted statements read is in a schema of its own: views of one namespace, and functions.
CREATE SCHEMA tamis_sql;

-- The namespace of a statement comes from a setting, which the statement could change. So the setting carries a seal that only
-- the owner of these tables can make, for one transaction of one connection.
INSERT INTO meta(key, value) VALUES ('sql_secret', gen_random_uuid()::text || gen_random_uuid()::text);

CREATE FUNCTION sealed(namespace text) RETURNS text LANGUAGE sql STABLE STRICT SET search_path = tamis, pg_catalog, pg_temp
AS $$
  SELECT encode(sha256(convert_to(value || encode(sha256(convert_to(concat_ws(' ', value, pg_backend_pid(),
    extract(epoch FROM transaction_timestamp()), namespace), 'UTF8')), 'hex'), 'UTF8')), 'hex') || namespace
  FROM meta WHERE key = 'sql_secret'
$$;
REVOKE ALL ON FUNCTION sealed(text) FROM PUBLIC;

-- The namespace that the statements of this transaction see.
CREATE FUNCTION tamis_sql.namespace() RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tamis, pg_catalog, pg_temp
AS $$
DECLARE
  given text := current_setting('tamis.scope', true);
  named text := substr(given, 65);
BEGIN
  IF given IS DISTINCT FROM sealed(named) OR given IS NULL THEN
    RAISE insufficient_privilege USING MESSAGE = 'no namespace is open';
  END IF;
  RETURN named;
END
$$;

-- The barrier keeps conditions of a statement from seeing rows of other namespaces first: an error can name a value.
CREATE VIEW tamis_sql.tasks WITH (security_barrier) AS
  SELECT id, question, status, created_at FROM evidence_tasks WHERE namespace = (SELECT tamis_sql.namespace());
CREATE VIEW tamis_sql.works WITH (security_barrier) AS
  SELECT id, title, authors, year, venue, doi, citation_count FROM evidence_works
  WHERE namespace = (SELECT tamis_sql.namespace());
CREATE VIEW tamis_sql.pages WITH (security_barrier) AS
  SELECT id, url, domain, title, work_id, published_at, fetched_at FROM evidence_pages
  WHERE namespace = (SELECT tamis_sql.namespace());
CREATE VIEW tamis_sql.fragments WITH (security_barrier) AS
  SELECT id, page_id, text, heading, position, created_at FROM evidence_fragments
  WHERE namespace = (SELECT tamis_sql.namespace());
CREATE VIEW tamis_sql.claims WITH (security_barrier) AS
  SELECT id, task_id, text, type, confidence, status, created_at FROM evidence_claims
  WHERE namespace = (SELECT tamis_sql.namespace());
CREATE VIEW tamis_sql.edges WITH (security_barrier) AS
  SELECT source_type, source_id, target_type, target_id, relation, nli_edge_confidence, note, created_at FROM evidence_edges
  WHERE namespace = (SELECT tamis_sql.namespace());

-- A vector as little-endian floats, the form of every store.
CREATE FUNCTION tamis_sql.blob_of(vector real[]) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
AS $$
  SELECT coalesce(string_agg(substr(b, 4, 1) || substr(b, 3, 1) || substr(b, 2, 1) || substr(b, 1, 1), '' ORDER BY at), '')
  FROM (SELECT float4send(part) AS b, at FROM unnest(vector) WITH ORDINALITY AS parts(part, at)) AS sent
$$;

CREATE VIEW tamis_sql.embeddings WITH (security_barrier) AS
  SELECT 'claim'::text COLLATE "C" AS target_type, e.id AS target_id, m.name AS model_id,
    tamis_sql.blob_of(v.embedding::real[]) AS embedding_blob, m.dimension::bigint AS dimension
  FROM evidence_claims e
  JOIN documents d ON d.namespace = e.namespace AND d.path = 'claim:' || e.id AND d.collection = 'evidence'
  JOIN passages p ON p.namespace = e.namespace AND p.document = d.document
  JOIN vectors v ON v.namespace = e.namespace AND v.text_hash = p.text_hash
  JOIN models m ON m.model = v.model
  WHERE e.namespace = (SELECT tamis_sql.namespace())
  UNION ALL
  SELECT 'fragment'::text COLLATE "C", e.id, m.name, tamis_sql.blob_of(v.embedding::real[]), m.dimension::bigint
  FROM evidence_fragments e
  JOIN documents d ON d.namespace = e.namespace AND d.path = 'fragment:' || e.id AND d.collection = 'evidence'
  JOIN passages p ON p.namespace = e.namespace AND p.document = d.document
  JOIN vectors v ON v.namespace = e.namespace AND v.text_hash = p.text_hash
  JOIN models m ON m.model = v.model
  WHERE e.namespace = (SELECT tamis_sql.namespace());
