-- The origin of an imported document; null for a file of its namespace's tree.
ALTER TABLE documents ADD COLUMN origin TEXT;
-- The original document as JSON, if it has more than its passages.
ALTER TABLE documents ADD COLUMN record TEXT;

-- Attributes of documents for filters: the state of an issue, its labels, the topic of a note.
CREATE TABLE attributes(
  document INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  folded TEXT NOT NULL,     -- the value with its case folded
  PRIMARY KEY (document, name, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX attributes_value ON attributes(name, folded);

-- The author or speaker of a passage, its own date, and the part of its document that it belongs to.
ALTER TABLE passages ADD COLUMN author TEXT;
ALTER TABLE passages ADD COLUMN dated_ns INTEGER;
ALTER TABLE passages ADD COLUMN part INTEGER;
