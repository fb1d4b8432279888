-- Where a document came from, when it is no file of its namespace's tree.
ALTER TABLE documents ADD COLUMN origin TEXT;
-- The document as it was given, as JSON, where it is more than its passages.
ALTER TABLE documents ADD COLUMN record TEXT;

-- What filters ask of documents: the state of an issue, its labels, the topic of a note.
CREATE TABLE attributes(
  document INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  folded TEXT NOT NULL,     -- the value without difference of case
  PRIMARY KEY (document, name, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX attributes_value ON attributes(name, folded);

-- Who wrote or said a passage, its own date, and which part of its document it belongs to.
ALTER TABLE passages ADD COLUMN author TEXT;
ALTER TABLE passages ADD COLUMN dated_ns INTEGER;
ALTER TABLE passages ADD COLUMN part INTEGER;
