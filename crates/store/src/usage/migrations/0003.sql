-- The key that makes scores comparable, in place of a sentence.
ALTER TABLE searches RENAME COLUMN scale TO scoring;
