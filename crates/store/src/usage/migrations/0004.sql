-- Who asked, as a hash, and what the answer showed: positions among the candidates, in the order shown.
ALTER TABLE searches ADD COLUMN caller BLOB CHECK (length(caller) = 16);
ALTER TABLE searches ADD COLUMN shown TEXT CHECK (json_valid(shown));
CREATE INDEX searches_of_caller ON searches(caller, number) WHERE caller IS NOT NULL;
-- Finds the queries whose text is kept.
CREATE INDEX searches_with_text ON searches(query_hash, number) WHERE query_text IS NOT NULL;

-- Shown passages that the same caller opened after the search: weak evidence that they answer it.
CREATE TABLE openings(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  search INTEGER NOT NULL REFERENCES searches(number) ON DELETE CASCADE,
  passage TEXT NOT NULL,
  entry_point TEXT NOT NULL,          -- cli get, mcp related, …
  at_ms INTEGER NOT NULL,             -- milliseconds since 1970, of the first time
  UNIQUE (search, passage)
) STRICT;

-- What a model said of a pair of query and passage, also where its reply could not be used. Repeated runs read it from here.
CREATE TABLE grades(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  pair BLOB NOT NULL CHECK (length(pair) = 32),               -- BLAKE3 of what was sent
  model TEXT NOT NULL,
  grade INTEGER CHECK (grade BETWEEN 0 AND 3),                -- null: the reply could not be used
  reason TEXT NOT NULL,               -- the model's, or why there is no grade
  at_ms INTEGER NOT NULL,
  UNIQUE (model, pair)
) STRICT;

-- The grade that a judgement was made from; null where a person made it.
ALTER TABLE judgements ADD COLUMN grade INTEGER REFERENCES grades(number) ON DELETE CASCADE;
CREATE INDEX judgements_by_grade ON judgements(grade) WHERE grade IS NOT NULL;

-- What unjudged searches say of a collection, which decides nothing any more.
DROP INDEX searches_profile;
ALTER TABLE searches DROP COLUMN focus;
ALTER TABLE searches DROP COLUMN evidence_sum;
