-- A search as it was answered: the query, its scope, and every candidate with its evidence at that time.
CREATE TABLE searches(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,            -- as shown to people
  at_ms INTEGER NOT NULL,             -- milliseconds since 1970
  entry_point TEXT NOT NULL,          -- search, import, …
  namespace TEXT NOT NULL,
  query_hash BLOB NOT NULL CHECK (length(query_hash) = 32),   -- BLAKE3
  query_text TEXT,                    -- if recording it is enabled
  mode TEXT NOT NULL,                 -- the legs that took part
  model TEXT,                         -- of the semantic leg
  method TEXT NOT NULL,               -- the cut that decided
  scale TEXT NOT NULL,                -- scores are comparable if this is equal
  kept INTEGER NOT NULL CHECK (kept >= 0),                    -- number of candidates kept, the first ones
  candidates INTEGER NOT NULL CHECK (candidates >= kept),
  passages INTEGER NOT NULL,          -- number that passed the filters
  score_background REAL,              -- score of a passage unrelated to the query
  similarity_mean REAL,               -- of the query to all passages
  similarity_deviation REAL,
  bm25_mean REAL,                     -- of a passage drawn at random
  focus REAL,                         -- margin of the first candidate over the next ones
  evidence_sum REAL,                  -- absolute evidence of both legs
  judged INTEGER NOT NULL DEFAULT 0 CHECK (judged IN (0, 1)),
  candidate_ids TEXT NOT NULL CHECK (json_valid(candidate_ids)),  -- passages, best first
  evidence BLOB NOT NULL              -- of each candidate, by column
) STRICT;
CREATE INDEX searches_unjudged ON searches(number) WHERE judged = 0;
CREATE INDEX searches_judged ON searches(number) WHERE judged = 1;
-- Covers everything that a profile reads, so that it does not read the candidates.
CREATE INDEX searches_profile ON searches(namespace, model, number, query_hash, focus, evidence_sum);

-- Judgements of passages for a search. The last one counts, the earlier ones stay.
CREATE TABLE judgements(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  search INTEGER NOT NULL REFERENCES searches(number) ON DELETE CASCADE,
  passage TEXT NOT NULL,
  relevant INTEGER NOT NULL CHECK (relevant IN (0, 1)),
  in_pool INTEGER NOT NULL CHECK (in_pool IN (0, 1)),         -- 1 if it was among the candidates
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX judgements_of ON judgements(search, passage, number);
