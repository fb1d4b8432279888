-- Records can be long. A table of their own keeps them from slowing reads of many documents.
CREATE TABLE records(
  document INTEGER NOT NULL PRIMARY KEY REFERENCES documents(id) ON DELETE CASCADE,
  record TEXT NOT NULL
) STRICT;
INSERT INTO records(document, record) SELECT id, record FROM documents WHERE record IS NOT NULL;
ALTER TABLE documents DROP COLUMN record;

-- For filters by date and author. Among files, few passages have a date or an author of their own.
CREATE INDEX documents_dated ON documents(coalesce(dated_ns, nullif(modified_ns, 0)), passages);
CREATE INDEX passages_dated ON passages(dated_ns, document) WHERE dated_ns IS NOT NULL;
CREATE INDEX passages_author ON passages(author, document) WHERE author IS NOT NULL;
