-- What a passage's symbol looks like beside its name: part of its identifier, so that overloads are told apart.
ALTER TABLE passages ADD COLUMN signature TEXT;
-- The document's own date, such as that of its last commit.
ALTER TABLE documents ADD COLUMN dated_ns INTEGER;
-- How severe its subject is, where it says so: critical, major, …
ALTER TABLE documents ADD COLUMN severity TEXT;
-- Passages by namespace are counted without reading a document.
CREATE INDEX documents_namespace ON documents(namespace, passages);

-- Every namespace that has or had documents, and those that are known and have none. A number is never used twice.
CREATE TABLE namespaces(
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  root TEXT,
  owner TEXT,
  shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1))
) STRICT;
INSERT INTO namespaces(name) SELECT DISTINCT namespace FROM documents ORDER BY namespace;

-- From which similarity on passages of a language are alike, as measured under one model.
CREATE TABLE threshold_calibration(
  language TEXT NOT NULL,
  threshold REAL NOT NULL,
  sample_size INTEGER NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  calibrated_at INTEGER NOT NULL,   -- milliseconds since 1970
  PRIMARY KEY (language, provider, model)
) STRICT, WITHOUT ROWID;
