-- How well each query was served: one row for every query, also for one that found nothing. Small, and without candidates.
CREATE TABLE retrieval_quality(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,             -- milliseconds since 1970
  entry_point TEXT NOT NULL,          -- search, import, …
  namespace TEXT NOT NULL,
  corpus TEXT NOT NULL,               -- the collections asked for, with commas; all
  query_hash BLOB NOT NULL CHECK (length(query_hash) = 32),   -- BLAKE3
  query_text TEXT,                    -- where it was asked to be kept
  search_id TEXT,                     -- of the search with its candidates, where that was recorded
  model TEXT,                         -- of the semantic leg
  mode TEXT NOT NULL,                 -- the legs that took part
  lexical_candidates INTEGER,         -- found by each leg; null where it took no part
  semantic_candidates INTEGER,
  candidates INTEGER NOT NULL,
  kept INTEGER NOT NULL,              -- by the cut
  dropped INTEGER NOT NULL,           -- by the cut
  returned INTEGER NOT NULL,          -- kept ones that the limit left
  top_k INTEGER NOT NULL,             -- that limit
  threshold REAL,
  threshold_method TEXT NOT NULL,     -- adaptive, percentile, configured, auto, gate, …
  gap_size REAL,                      -- largest difference of neighbours, where the cut looks for one
  mean_kept_distance REAL,            -- 1 − similarity
  language_match_ratio REAL,          -- share of the kept ones in the language hinted at; null without a hint
  best_similarity REAL,
  similarity_mean REAL,               -- of the query to all passages
  milliseconds TEXT NOT NULL CHECK (json_valid(milliseconds)),  -- by stage, an object
  total_ms REAL NOT NULL,
  fallback_reason TEXT
) STRICT;
CREATE INDEX retrieval_quality_at ON retrieval_quality(at_ms);
