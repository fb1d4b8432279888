-- Deleted passages that the published lexical index still holds. Until the next publication searches find them as
-- they were.
CREATE TABLE retired(
  passage INTEGER NOT NULL PRIMARY KEY,
  record TEXT NOT NULL      -- as JSON
) STRICT;
