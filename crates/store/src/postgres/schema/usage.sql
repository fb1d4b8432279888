-- Recorded searches and the feedback on them, in the same database as the index, so that all servers learn together. The tables stay
-- when a namespace is removed. `namespace` is what the search named: a namespace, or several as `a,b`. Numbers come from one sequence
-- a table, so that each is unique and the latest has the largest.

-- A search as it was answered: the query, its scope, and every candidate with its evidence at that time.
CREATE TABLE usage_searches(
  namespace text NOT NULL,
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  id text NOT NULL,                 -- as shown to people; unique in all namespaces
  at_ms bigint NOT NULL,            -- milliseconds since 1970
  entry_point text NOT NULL,        -- search, import, …
  query_hash bytea NOT NULL CHECK (length(query_hash) = 32),    -- BLAKE3
  query_text text,                  -- if recording it is enabled
  mode text NOT NULL,               -- the retrievers that took part
  model text,                       -- of the semantic leg
  method text NOT NULL,             -- the cut that decided
  scoring text NOT NULL,            -- scores are comparable if this key is equal
  kept bigint NOT NULL CHECK (kept >= 0),                       -- number of candidates kept, the first ones
  candidates bigint NOT NULL CHECK (candidates >= kept),
  passages bigint NOT NULL,         -- number that passed the filters
  score_background double precision,                            -- score of a passage unrelated to the query
  similarity_mean double precision, -- of the query to all passages
  similarity_deviation double precision,
  bm25_mean double precision,       -- of a passage drawn at random
  judged boolean NOT NULL DEFAULT false,
  candidate_ids text[] NOT NULL,    -- passages, best first
  evidence bytea NOT NULL,          -- of each candidate, by column
  caller bytea CHECK (length(caller) = 16),                     -- who asked, as a hash
  shown bigint[],                   -- positions among the candidates from 0, in the order shown
  PRIMARY KEY (namespace, number),
  UNIQUE (namespace, id)
);
-- A caller knows the identifier alone.
CREATE INDEX usage_searches_id ON usage_searches(id);
CREATE INDEX usage_searches_number ON usage_searches(number);
CREATE INDEX usage_searches_unjudged ON usage_searches(number) WHERE NOT judged;
CREATE INDEX usage_searches_judged ON usage_searches(number) WHERE judged;
CREATE INDEX usage_searches_of_caller ON usage_searches(caller, number) WHERE caller IS NOT NULL;
-- Finds the queries whose text is kept.
CREATE INDEX usage_searches_with_text ON usage_searches(query_hash, number) WHERE query_text IS NOT NULL;

-- What a model said of a pair of query and passage, also where its reply could not be used. Repeated runs read it from here. A pair has
-- no namespace: the same text gets the same grade everywhere.
CREATE TABLE usage_grades(
  number bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  pair bytea NOT NULL CHECK (length(pair) = 32),                -- BLAKE3 of what was sent
  model text NOT NULL,
  grade smallint CHECK (grade BETWEEN 0 AND 3),                 -- null: the reply could not be used
  reason text NOT NULL,             -- the model's, or why there is no grade
  at_ms bigint NOT NULL,
  UNIQUE (model, pair)
);

-- Judgements of passages for a search. The last one counts, the earlier ones stay.
CREATE TABLE usage_judgements(
  namespace text NOT NULL,
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  search bigint NOT NULL,
  passage text NOT NULL,
  relevant boolean NOT NULL,
  in_pool boolean NOT NULL,         -- true if it was among the candidates
  at_ms bigint NOT NULL,
  grade bigint REFERENCES usage_grades(number) ON DELETE CASCADE,   -- it was made from; null where a person made it
  PRIMARY KEY (namespace, number),
  FOREIGN KEY (namespace, search) REFERENCES usage_searches(namespace, number) ON DELETE CASCADE
);
CREATE INDEX usage_judgements_of ON usage_judgements(namespace, search, passage, number);
CREATE INDEX usage_judgements_number ON usage_judgements(number);
CREATE INDEX usage_judgements_by_grade ON usage_judgements(grade) WHERE grade IS NOT NULL;

-- Shown passages that the same caller opened after the search: weak evidence that they answer it.
CREATE TABLE usage_openings(
  namespace text NOT NULL,
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  search bigint NOT NULL,
  passage text NOT NULL,
  entry_point text NOT NULL,        -- cli get, mcp related, …
  at_ms bigint NOT NULL,            -- milliseconds since 1970, of the first time
  PRIMARY KEY (namespace, number),
  UNIQUE (namespace, search, passage),
  FOREIGN KEY (namespace, search) REFERENCES usage_searches(namespace, number) ON DELETE CASCADE
);
CREATE INDEX usage_openings_number ON usage_openings(number);

-- The quality of each query's answer: one row for every query, even if it found nothing. Small, without candidates.
CREATE TABLE usage_quality(
  namespace text NOT NULL,
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at_ms bigint NOT NULL,            -- milliseconds since 1970
  entry_point text NOT NULL,        -- search, import, …
  corpus text NOT NULL,             -- the requested collections, separated by commas, or all
  query_hash bytea NOT NULL CHECK (length(query_hash) = 32),    -- BLAKE3
  query_text text,                  -- if recording it is enabled
  search_id text,                   -- of the recorded search with its candidates, if any
  model text,                       -- of the semantic leg
  mode text NOT NULL,               -- the retrievers that took part
  lexical_candidates bigint,        -- found by each retriever; null if it took no part
  semantic_candidates bigint,
  candidates bigint NOT NULL,
  kept bigint NOT NULL,             -- by the cut
  dropped bigint NOT NULL,          -- by the cut
  returned bigint NOT NULL,         -- kept ones within the limit
  top_k bigint NOT NULL,            -- that limit
  threshold double precision,
  threshold_method text NOT NULL,   -- adaptive, percentile, configured, auto, gate, …
  gap_size double precision,        -- largest difference between neighbours, if the cut looks for one
  mean_kept_distance double precision,                          -- 1 − similarity
  language_match_ratio double precision,                        -- share of the kept ones in the hinted language; null without a hint
  best_similarity double precision,
  similarity_mean double precision, -- of the query to all passages
  milliseconds json NOT NULL,       -- by stage, an object
  total_ms double precision NOT NULL,
  fallback_reason text,
  PRIMARY KEY (namespace, number)
);
CREATE INDEX usage_quality_number ON usage_quality(number);
CREATE INDEX usage_quality_at ON usage_quality(at_ms, number);
