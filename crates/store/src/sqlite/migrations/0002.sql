-- Passages that are gone and that the published lexical index still names: those who search until the
-- next publication find them as they were.
CREATE TABLE retired(
  passage INTEGER NOT NULL PRIMARY KEY,
  record TEXT NOT NULL      -- as JSON
) STRICT;
