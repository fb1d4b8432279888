-- The evidence graph of each namespace. Its searchable records, fragments and claims, are documents as well,
-- `fragment:ID` and `claim:ID`, written in the same transaction; the documents hold their origin.
CREATE TABLE evidence_tasks(
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  question TEXT NOT NULL,
  status TEXT,
  created_at TEXT,          -- RFC 3339 or a date, as given, like all times here
  origin TEXT NOT NULL,     -- the import's origin
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence_works(
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  title TEXT NOT NULL,
  authors TEXT,             -- a JSON array of names
  year INTEGER,
  venue TEXT,
  doi TEXT,
  citation_count INTEGER,
  origin TEXT NOT NULL,
  PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence_pages(
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  url TEXT,
  domain TEXT,              -- the host of the address, computed
  title TEXT,
  work_id TEXT,
  published_at TEXT,
  fetched_at TEXT,
  origin TEXT NOT NULL,
  PRIMARY KEY (namespace, id),
  FOREIGN KEY (namespace, work_id) REFERENCES evidence_works(namespace, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_pages_work ON evidence_pages(namespace, work_id) WHERE work_id IS NOT NULL;

CREATE TABLE evidence_fragments(
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  page_id TEXT NOT NULL,
  text TEXT NOT NULL,
  heading TEXT,
  position INTEGER,         -- its position on the page, from 0
  created_at TEXT,
  PRIMARY KEY (namespace, id),
  FOREIGN KEY (namespace, page_id) REFERENCES evidence_pages(namespace, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_fragments_page ON evidence_fragments(namespace, page_id, position);

CREATE TABLE evidence_claims(
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  text TEXT NOT NULL,
  type TEXT,
  confidence REAL CHECK (confidence BETWEEN 0 AND 1),
  status TEXT,
  created_at TEXT,
  PRIMARY KEY (namespace, id),
  FOREIGN KEY (namespace, task_id) REFERENCES evidence_tasks(namespace, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_claims_task ON evidence_claims(namespace, task_id);

CREATE TABLE evidence_edges(
  namespace TEXT NOT NULL,
  source_type TEXT NOT NULL CHECK (source_type IN ('fragment', 'page', 'work')),
  source_id TEXT NOT NULL,
  target_type TEXT NOT NULL CHECK (target_type IN ('claim', 'page', 'work')),
  target_id TEXT NOT NULL,
  relation TEXT NOT NULL CHECK (relation IN ('origin', 'supports', 'refutes', 'neutral', 'cites')),
  nli_edge_confidence REAL CHECK (nli_edge_confidence BETWEEN 0 AND 1),
  note TEXT,
  created_at TEXT,
  origin TEXT NOT NULL,
  PRIMARY KEY (namespace, source_type, source_id, target_type, target_id, relation)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_edges_target ON evidence_edges(namespace, target_type, target_id, relation);
-- A fragment has at most one stance on a claim.
CREATE UNIQUE INDEX evidence_edges_stand ON evidence_edges(namespace, source_type, source_id, target_type, target_id)
  WHERE relation IN ('supports', 'refutes', 'neutral');

-- Statistics for the planner: many rows a namespace, few of them under one more column. Without them SQLite assumes a few
-- rows a namespace, and reads all of them instead of using an index.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1(tbl, idx, stat) VALUES
  ('evidence_tasks', 'evidence_tasks', '200 100 1'),
  ('evidence_works', 'evidence_works', '10000 5000 1'),
  ('evidence_pages', 'evidence_pages', '20000 10000 1'),
  ('evidence_pages', 'evidence_pages_work', '10000 5000 2'),
  ('evidence_fragments', 'evidence_fragments', '100000 50000 1'),
  ('evidence_fragments', 'evidence_fragments_page', '100000 50000 10 1'),
  ('evidence_claims', 'evidence_claims', '20000 10000 1'),
  ('evidence_claims', 'evidence_claims_task', '20000 10000 200'),
  ('evidence_edges', 'evidence_edges', '200000 100000 50000 4 2 1 1'),
  ('evidence_edges', 'evidence_edges_target', '200000 100000 50000 10 4'),
  ('evidence_edges', 'evidence_edges_stand', '100000 50000 50000 2 2 1');
