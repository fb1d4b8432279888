-- The signature of a passage's symbol: part of its identifier, so that overloads differ.
ALTER TABLE passages ADD COLUMN signature TEXT;
-- The document's own date, such as that of its last commit.
ALTER TABLE documents ADD COLUMN dated_ns INTEGER;
-- The severity of its subject, if stated: critical, major, …
ALTER TABLE documents ADD COLUMN severity TEXT;
-- Counts the passages of a namespace without reading a document.
CREATE INDEX documents_namespace ON documents(namespace, passages);

-- Every namespace that has or had documents, and every registered one. A number is never used twice.
CREATE TABLE namespaces(
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  root TEXT,
  owner TEXT,
  shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1))
) STRICT;
INSERT INTO namespaces(name) SELECT DISTINCT namespace FROM documents ORDER BY namespace;

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
