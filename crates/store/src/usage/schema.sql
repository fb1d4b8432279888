-- The tables have the names and columns of those in PostgreSQL; lists are JSON.

-- A search as it was answered: the query, its scope, and every candidate with its evidence at that time.
CREATE TABLE usage_searches(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,            -- as shown to people
  at_ms INTEGER NOT NULL,             -- milliseconds since 1970
  entry_point TEXT NOT NULL,          -- search, import, …
  namespace TEXT NOT NULL,
  query_hash BLOB NOT NULL CHECK (length(query_hash) = 32),   -- BLAKE3
  query_text TEXT,                    -- if recording it is enabled
  mode TEXT NOT NULL,                 -- the retrievers that took part
  model TEXT,                         -- of the semantic leg
  method TEXT NOT NULL,               -- the cut that decided
  scoring TEXT NOT NULL,              -- scores are comparable if this key is equal
  kept INTEGER NOT NULL CHECK (kept >= 0),                    -- number of candidates kept, the first ones
  candidates INTEGER NOT NULL CHECK (candidates >= kept),
  passages INTEGER NOT NULL,          -- number that passed the filters
  score_background REAL,              -- score of a passage unrelated to the query
  similarity_mean REAL,               -- of the query to all passages
  similarity_deviation REAL,
  bm25_mean REAL,                     -- of a passage drawn at random
  judged INTEGER NOT NULL DEFAULT 0 CHECK (judged IN (0, 1)),
  candidate_ids TEXT NOT NULL CHECK (json_valid(candidate_ids)),  -- passages, best first
  evidence BLOB NOT NULL,             -- of each candidate, by column
  caller BLOB CHECK (length(caller) = 16),                    -- who asked, as a hash
  shown TEXT CHECK (json_valid(shown))                        -- positions among the candidates from 0, in the order shown
) STRICT;
CREATE INDEX usage_searches_unjudged ON usage_searches(number) WHERE NOT judged;
CREATE INDEX usage_searches_judged ON usage_searches(number) WHERE judged;
CREATE INDEX usage_searches_of_caller ON usage_searches(caller, number) WHERE caller IS NOT NULL;
-- Finds the queries whose text is kept.
CREATE INDEX usage_searches_with_text ON usage_searches(query_hash, number) WHERE query_text IS NOT NULL;

-- Judgements of passages for a search. The last one counts, the earlier ones stay.
CREATE TABLE usage_judgements(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,            -- of the search
  search INTEGER NOT NULL REFERENCES usage_searches(number) ON DELETE CASCADE,
  passage TEXT NOT NULL,
  relevant INTEGER NOT NULL CHECK (relevant IN (0, 1)),
  in_pool INTEGER NOT NULL CHECK (in_pool IN (0, 1)),         -- 1 if it was among the candidates
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_judgements_of ON usage_judgements(search, passage, number);

-- Shown passages that the same caller opened after the search: weak evidence that they answer it.
CREATE TABLE usage_openings(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,            -- of the search
  search INTEGER NOT NULL REFERENCES usage_searches(number) ON DELETE CASCADE,
  passage TEXT NOT NULL,
  entry_point TEXT NOT NULL,          -- cli get, mcp related, …
  at_ms INTEGER NOT NULL,             -- milliseconds since 1970, of the first time
  UNIQUE (namespace, search, passage)
) STRICT;
CREATE INDEX usage_openings_of ON usage_openings(search);

-- The quality of each query's answer: one row for every query, even if it found nothing. Small, without candidates.
CREATE TABLE usage_quality(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,             -- milliseconds since 1970
  entry_point TEXT NOT NULL,          -- search, import, …
  namespace TEXT NOT NULL,
  corpus TEXT NOT NULL,               -- the requested collections, separated by commas, or all
  query_hash BLOB NOT NULL CHECK (length(query_hash) = 32),   -- BLAKE3
  query_text TEXT,                    -- if recording it is enabled
  search_id TEXT,                     -- of the recorded search with its candidates, if any
  model TEXT,                         -- of the semantic leg
  mode TEXT NOT NULL,                 -- the retrievers that took part
  lexical_candidates INTEGER,         -- found by each retriever; null if it took no part
  semantic_candidates INTEGER,
  candidates INTEGER NOT NULL,
  kept INTEGER NOT NULL,              -- by the cut
  dropped INTEGER NOT NULL,           -- by the cut
  returned INTEGER NOT NULL,          -- kept ones within the limit
  top_k INTEGER NOT NULL,             -- that limit
  threshold REAL,
  threshold_method TEXT NOT NULL,     -- adaptive, percentile, configured, auto, gate, …
  gap_size REAL,                      -- largest difference between neighbours, if the cut looks for one
  mean_kept_distance REAL,            -- 1 − similarity
  language_match_ratio REAL,          -- share of the kept ones in the hinted language; null without a hint
  best_similarity REAL,
  similarity_mean REAL,               -- of the query to all passages
  milliseconds TEXT NOT NULL CHECK (json_valid(milliseconds)),  -- by stage, an object
  total_ms REAL NOT NULL,
  fallback_reason TEXT
) STRICT;
CREATE INDEX usage_quality_at ON usage_quality(at_ms);
