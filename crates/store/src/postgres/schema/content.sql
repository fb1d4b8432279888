-- Text that is a key or sorted is compared byte by byte, whatever the order of the database.
--
-- Every table that grows has the namespace as the first column of its key, so that all of them can be distributed by it and joined
-- within one shard. The others are small and the same everywhere.
--
-- Statements keep three rules, so that nodes can answer them: each names the namespaces of every table that grows, as a value or by
-- joining it to one that does; such tables are joined by their namespaces; and a subquery on one refers to no query around it that
-- has none. A few name no namespaces, and every node answers for its shards: rows by their numbers, vectors of a text that is known
-- elsewhere, and lists and counts of everything.
--
-- No foreign key ties passages, words and attributes to their documents. All are written and deleted together, and `check` counts
-- strays; a key would be looked up for every row, which took longer than writing it.

-- Citus would ask the owner of the extension for one that is there.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') THEN
    CREATE EXTENSION vector SCHEMA public;
  END IF;
END
$$;

CREATE TABLE meta(
  key text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL
);

-- Settings of each tree that is indexed here, by its namespace.
CREATE TABLE properties(
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, name)
);

CREATE TABLE threshold_calibration(
  language text COLLATE "C" NOT NULL,
  threshold double precision NOT NULL,
  sample_size bigint NOT NULL,
  provider text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  calibrated_at bigint NOT NULL,    -- milliseconds since 1970
  PRIMARY KEY (language, provider, model)
);

CREATE TABLE models(
  model integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  name text COLLATE "C" NOT NULL UNIQUE,
  dimension integer NOT NULL CHECK (dimension > 0)
);

CREATE SEQUENCE document_numbers AS integer;
CREATE SEQUENCE passage_numbers AS bigint;
CREATE SEQUENCE namespace_numbers AS integer;

-- Every namespace that has or had documents, and every registered one. Each change of a namespace raises its change number in the
-- same transaction. The last four columns are its totals, the last three those of its lexical index.
CREATE TABLE namespaces(
  namespace text COLLATE "C" PRIMARY KEY,
  number integer NOT NULL UNIQUE DEFAULT nextval('namespace_numbers'),   -- part of the numbers of its terms
  root text,
  machine text,                     -- the one that has the directory `root`; null: every machine has it
  owner text,
  shared boolean NOT NULL DEFAULT false,
  change_number bigint NOT NULL DEFAULT 0,
  changed_ms bigint,                -- time of the last change, in milliseconds since 1970
  published_ms bigint,
  evidence_number bigint NOT NULL DEFAULT 0,     -- counts changes of its evidence, so that copies of it are known to be current
  analysis integer NOT NULL,        -- the version of the analysis that gave its words
  documents bigint NOT NULL DEFAULT 0,
  passages bigint NOT NULL DEFAULT 0,
  body_terms bigint NOT NULL DEFAULT 0,
  name_terms bigint NOT NULL DEFAULT 0
);

CREATE TABLE documents(
  namespace text COLLATE "C" NOT NULL,
  document integer NOT NULL DEFAULT nextval('document_numbers'),
  collection text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  origin text COLLATE "C",
  language text COLLATE "C",
  role text COLLATE "C" NOT NULL,
  title text,
  size bigint NOT NULL,
  modified_ns bigint NOT NULL,
  stamp bigint NOT NULL DEFAULT 0,  -- changes with a file besides its size and time of modification; 0: unknown
  dated_ns bigint,
  severity text COLLATE "C",
  content_hash bytea NOT NULL CHECK (length(content_hash) = 32),
  note text,
  record text,                      -- the original document as JSON
  passages integer NOT NULL,
  PRIMARY KEY (namespace, document),
  UNIQUE (namespace, path) DEFERRABLE   -- checked after each statement, because documents can swap their paths
);
CREATE INDEX documents_number ON documents(document);
CREATE INDEX documents_origin ON documents(namespace, origin) WHERE origin IS NOT NULL;
CREATE INDEX documents_dated ON documents(namespace, coalesce(dated_ns, nullif(modified_ns, 0)));

CREATE TABLE attributes(
  namespace text COLLATE "C" NOT NULL,
  document integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  folded text COLLATE "C" NOT NULL, -- the value with its case folded
  PRIMARY KEY (namespace, document, name, value)
);
CREATE INDEX attributes_value ON attributes(namespace, name, folded);

CREATE TABLE passages(
  namespace text COLLATE "C" NOT NULL,
  passage bigint NOT NULL DEFAULT nextval('passage_numbers'),
  document integer NOT NULL,
  ordinal integer NOT NULL,
  public_id text COLLATE "C" NOT NULL,
  start_line bigint NOT NULL,
  end_line bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  symbol text,
  signature text,                   -- tells symbols of one name apart, for public_id
  heading text,
  context text,
  role text COLLATE "C" NOT NULL,
  language text COLLATE "C",        -- if it differs from the document's
  author text COLLATE "C",
  author_folded text COLLATE "C",
  dated_ns bigint,
  part bigint,
  prose boolean NOT NULL,
  text text NOT NULL,
  before_text text,                 -- what the embedded text has before the text; null if it does not end with the text
  embedded_text text,               -- the embedded text, if it does not end with the text
  text_hash bytea NOT NULL,         -- BLAKE3 of the embedded text, the key of its vectors
  PRIMARY KEY (namespace, passage),
  UNIQUE (namespace, public_id),
  CHECK ((before_text IS NULL) <> (embedded_text IS NULL))
);
CREATE INDEX passages_number ON passages(passage);
CREATE INDEX passages_document ON passages(namespace, document, ordinal);
CREATE INDEX passages_text ON passages(text_hash, namespace);
CREATE INDEX passages_public_id ON passages(public_id);
CREATE INDEX passages_author ON passages(namespace, author_folded) WHERE author_folded IS NOT NULL;

-- The words of each passage by our own analysis. A term stands here as the 64-bit number that it has in its namespace, so that
-- an index keeps the passages of each namespace apart: a search reads those of its namespaces alone. `terms`, `body_counts` and
-- `name_counts` belong together, place by place.
CREATE TABLE words(
  namespace text COLLATE "C" NOT NULL,
  passage bigint NOT NULL,
  document integer NOT NULL,
  terms bigint[] NOT NULL,
  body_counts integer[] NOT NULL,
  name_counts integer[] NOT NULL,
  body_terms bigint NOT NULL,       -- lengths of the two fields, in terms
  name_terms bigint NOT NULL,
  symbols text[] COLLATE "C" NOT NULL,          -- the last part of the name of each symbol it defines, as spelled
  indexed text,                     -- the terms as the index of words reads them; null without that index
  PRIMARY KEY (namespace, passage)
);
-- Counting elements of arrays takes long, and would only tell the server not to use the indexes.
ALTER TABLE words ALTER terms SET STATISTICS 0, ALTER body_counts SET STATISTICS 0, ALTER name_counts SET STATISTICS 0,
  ALTER symbols SET STATISTICS 0, ALTER indexed SET STATISTICS 0;
CREATE INDEX words_terms ON words USING gin (terms);
CREATE INDEX words_symbols ON words USING gin (symbols);

-- The number of passages of a namespace with a term in a field: 0 the body, 1 the name.
CREATE TABLE frequencies(
  namespace text COLLATE "C" NOT NULL,
  term bigint NOT NULL,
  field smallint NOT NULL,
  passages bigint NOT NULL,
  PRIMARY KEY (namespace, term, field)
);

-- Unit vectors. Their number of dimensions is the model's, so each model has an index of its own.
CREATE TABLE vectors(
  namespace text COLLATE "C" NOT NULL,
  model integer NOT NULL,
  text_hash bytea NOT NULL,
  embedding vector NOT NULL,
  PRIMARY KEY (namespace, model, text_hash)
);
CREATE INDEX vectors_text ON vectors(text_hash);

-- The passages of a namespace with a vector of a model, at the change number where they were counted.
CREATE TABLE coverages(
  namespace text COLLATE "C" NOT NULL,
  model integer NOT NULL,
  number integer NOT NULL,          -- of the namespace, which tells it from a later one of the same name
  change_number bigint NOT NULL,
  embedded bigint NOT NULL,
  PRIMARY KEY (namespace, model)
);
