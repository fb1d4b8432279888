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
