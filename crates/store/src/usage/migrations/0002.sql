-- The quality of each query's answer: one row for every query, even if it found nothing. Small, without candidates.
CREATE TABLE retrieval_quality(
  number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,             -- milliseconds since 1970
  entry_point TEXT NOT NULL,          -- search, import, …
  namespace TEXT NOT NULL,
  corpus TEXT NOT NULL,               -- the requested collections, separated by commas, or all
  query_hash BLOB NOT NULL CHECK (length(query_hash) = 32),   -- BLAKE3
  query_text TEXT,                    -- if recording it is enabled
  search_id TEXT,                     -- of the recorded search with its candidates, if any
  model TEXT,                         -- of the semantic leg
  mode TEXT NOT NULL,                 -- the legs that took part
  lexical_candidates INTEGER,         -- found by each leg; null if it took no part
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
CREATE INDEX retrieval_quality_at ON retrieval_quality(at_ms);
