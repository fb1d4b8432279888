-- One number counts every change: a passage's id is the number of its insertion, a vector's seq that of its own,
-- and a tombstone that of a passage's deletion. An index that holds everything up to a number replays the later
-- changes.
CREATE TABLE meta(
  key TEXT NOT NULL PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE documents(
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
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
  UNIQUE (namespace, path)
) STRICT;

-- Texts as they are embedded, each once. A text that no passage refers to any more loses its content. Its row stays
-- while it has vectors, in case the text comes back.
CREATE TABLE texts(
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  text TEXT
) STRICT;

CREATE TABLE passages(
  id INTEGER NOT NULL PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES documents(id),
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
  CHECK ((text_bytes IS NULL) <> (own_text IS NULL))
) STRICT;
CREATE INDEX passages_document ON passages(document, ordinal);
CREATE INDEX passages_text ON passages(text_id);
-- Usually empty. A filter by language then selects whole documents.
CREATE INDEX passages_language ON passages(language) WHERE language IS NOT NULL;

CREATE TABLE tombstones(
  seq INTEGER NOT NULL PRIMARY KEY,
  passage INTEGER NOT NULL
) STRICT;

CREATE TABLE models(
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL CHECK (dimension > 0)
) STRICT;

-- Unit vectors as little-endian f32.
CREATE TABLE vectors(
  seq INTEGER NOT NULL PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES models(id),
  text_id INTEGER NOT NULL REFERENCES texts(id),
  vector BLOB NOT NULL,
  UNIQUE (text_id, model)
) STRICT;

CREATE TABLE properties(
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta(key, value)
VALUES ('instance', randomblob(16)), ('seq', 0), ('tombstone_floor', 0), ('published_seq', 0);
