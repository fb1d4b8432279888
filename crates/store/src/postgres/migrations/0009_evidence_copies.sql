-- Counts changes of the evidence, so that copies of it are known to be current.
ALTER TABLE namespaces ADD COLUMN evidence_number bigint NOT NULL DEFAULT 0;

-- Earlier versions ran untrusted statements here, on views in the schema `tamis_sql` and under the role `tamis_reader`. Now they run
-- on copies, outside of the database. Programs of those versions do everything else as before.
DROP SCHEMA IF EXISTS tamis_sql CASCADE;
DROP FUNCTION IF EXISTS sealed(text);
DELETE FROM meta WHERE key = 'sql_secret';

DO $$
BEGIN
  DROP ROLE IF EXISTS tamis_reader;
-- The user may lack the right, and another database of the server may still need the role.
EXCEPTION WHEN insufficient_privilege OR dependent_objects_still_exist THEN NULL;
END
$$;
