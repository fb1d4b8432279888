-- Records can be long: in a table of their own they are out of the way of whatever reads many documents.
CREATE TABLE records(
  document INTEGER NOT NULL PRIMARY KEY REFERENCES documents(id) ON DELETE CASCADE,
  record TEXT NOT NULL
) STRICT;
INSERT INTO records(document, record) SELECT id, record FROM documents WHERE record IS NOT NULL;
ALTER TABLE documents DROP COLUMN record;

-- Filters by date and author. Passages with a date or an author of their own are few where the documents are files.
CREATE INDEX documents_dated ON documents(coalesce(dated_ns, nullif(modified_ns, 0)), passages);
CREATE INDEX passages_dated ON passages(dated_ns, document) WHERE dated_ns IS NOT NULL;
CREATE INDEX passages_author ON passages(author, document) WHERE author IS NOT NULL;
