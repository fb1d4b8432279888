-- Tables and columns have the names of those in PostgreSQL where both have them.
--
-- One number counts every change: a passage's number is that of its insertion, a vector's seq that of its own,
-- and a tombstone that of a passage's deletion. An index that holds everything up to a number replays the later
-- changes.
CREATE TABLE meta(
  key TEXT NOT NULL PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE documents(
  document INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,
  collection TEXT NOT NULL,
  path TEXT NOT NULL,
  language TEXT,
  role TEXT NOT NULL,
  title TEXT,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
  note TEXT,
  passages INTEGER NOT NULL,
  dated_ns INTEGER,         -- the document's own date, such as that of its last commit
  severity TEXT,            -- of its subject, if stated: critical, major, …
  origin TEXT,              -- of an imported document; null for a file of its namespace's tree
  stamp INTEGER NOT NULL DEFAULT 0,   -- changes with a file besides its size and time of modification; 0: unknown
  UNIQUE (namespace, path)
) STRICT;
-- Counts the passages of a namespace without reading a document.
CREATE INDEX documents_namespace ON documents(namespace, passages);
CREATE INDEX documents_dated ON documents(coalesce(dated_ns, nullif(modified_ns, 0)), passages);

-- Original documents as JSON, of those that have more than their passages. They can be long, and a table of their own keeps them
-- from slowing reads of many documents.
CREATE TABLE records(
  document INTEGER NOT NULL PRIMARY KEY REFERENCES documents(document) ON DELETE CASCADE,
  record TEXT NOT NULL
) STRICT;

-- Attributes of documents for filters: the state of an issue, its labels, the topic of a note.
CREATE TABLE attributes(
  document INTEGER NOT NULL REFERENCES documents(document) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  folded TEXT NOT NULL,     -- the value with its case folded
  PRIMARY KEY (document, name, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX attributes_value ON attributes(name, folded);

-- Every namespace that has or had documents, and every registered one. A number is never used twice.
CREATE TABLE namespaces(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL UNIQUE,
  root TEXT,                -- the directory that its files come from
  owner TEXT,
  shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1)),
  machine TEXT              -- the one that has the directory `root`; null: every machine has it
) STRICT;

-- Texts as they are embedded, each once, plain or compressed. A text that no passage refers to any more loses its content. Its row stays
-- while it has vectors, in case the text comes back.
CREATE TABLE texts(
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  text ANY                  -- TEXT, or a BLOB where compressing made it smaller
) STRICT;

CREATE TABLE passages(
  passage INTEGER NOT NULL PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES documents(document),
  ordinal INTEGER NOT NULL,
  public_id TEXT NOT NULL UNIQUE,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  kind TEXT NOT NULL,
  symbol TEXT,
  heading TEXT,
  context TEXT,
  role TEXT NOT NULL,
  language TEXT,            -- if it differs from the document's
  prose INTEGER NOT NULL CHECK (prose IN (0, 1)),
  text_id INTEGER NOT NULL REFERENCES texts(id),
  text_bytes INTEGER,       -- length of the passage's own text, at the end of the embedded one
  own_text TEXT,            -- the own text itself, if the embedded one does not contain it
  signature TEXT,           -- of its symbol: part of its identifier, so that overloads differ
  author TEXT,              -- or speaker
  dated_ns INTEGER,         -- its own date
  part INTEGER,             -- the part of its document that it belongs to
  CHECK ((text_bytes IS NULL) <> (own_text IS NULL))
) STRICT;
CREATE INDEX passages_document ON passages(document, ordinal);
CREATE INDEX passages_text ON passages(text_id);
-- Usually empty. A filter by language then selects whole documents.
CREATE INDEX passages_language ON passages(language) WHERE language IS NOT NULL;
-- For filters by date and author. Among files, few passages have a date or an author of their own.
CREATE INDEX passages_dated ON passages(dated_ns, document) WHERE dated_ns IS NOT NULL;
CREATE INDEX passages_author ON passages(author, document) WHERE author IS NOT NULL;

CREATE TABLE tombstones(
  seq INTEGER NOT NULL PRIMARY KEY,
  passage INTEGER NOT NULL
) STRICT;

-- Deleted passages that the published lexical index still holds. Until the next publication searches find them as
-- they were.
CREATE TABLE retired(
  passage INTEGER NOT NULL PRIMARY KEY,
  record TEXT NOT NULL      -- as JSON
) STRICT;

CREATE TABLE models(
  model INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL CHECK (dimension > 0)
) STRICT;

-- Unit vectors as little-endian f16.
CREATE TABLE vectors(
  seq INTEGER NOT NULL PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES models(model),
  text_id INTEGER NOT NULL REFERENCES texts(id),
  vector BLOB NOT NULL,
  UNIQUE (text_id, model)
) STRICT;

CREATE TABLE properties(
  namespace TEXT NOT NULL,  -- empty: the index has one set of settings
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- The similarity at which passages of a language count as similar, measured under one model.
CREATE TABLE threshold_calibration(
  language TEXT NOT NULL,
  threshold REAL NOT NULL,
  sample_size INTEGER NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  calibrated_at INTEGER NOT NULL,   -- milliseconds since 1970
  PRIMARY KEY (language, provider, model)
) STRICT, WITHOUT ROWID;

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

INSERT INTO meta(key, value)
VALUES ('instance', randomblob(16)), ('seq', 0), ('properties', 0), ('tombstone_floor', 0), ('published_seq', 0), ('kept_texts', 0);
