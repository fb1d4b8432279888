-- The key that makes scores comparable, instead of a sentence.
ALTER TABLE searches RENAME COLUMN scale TO scoring;
