-- Makes the role that untrusted statements run as, and gives it its rights. A role needs the right to make roles, which the owner
-- of these tables may lack: then nothing happens here, and statements are refused until an administrator has made the role.
DO $$
BEGIN
  IF to_regrole('tamis_reader') IS NULL THEN
    BEGIN
      CREATE ROLE tamis_reader NOLOGIN NOINHERIT;
    EXCEPTION
      WHEN insufficient_privilege THEN RETURN;
      -- Another database of the server made it at the same time.
      WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END IF;
  IF NOT pg_has_role('tamis_reader', 'SET') THEN
    BEGIN
      EXECUTE format('GRANT tamis_reader TO %I WITH SET TRUE, INHERIT FALSE', current_user);
    EXCEPTION WHEN insufficient_privilege THEN RETURN;
    END;
  END IF;
  GRANT USAGE ON SCHEMA tamis_sql TO tamis_reader;
  GRANT SELECT ON tamis_sql.tasks, tamis_sql.works, tamis_sql.pages, tamis_sql.fragments, tamis_sql.claims, tamis_sql.edges,
    tamis_sql.embeddings TO tamis_reader;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA tamis_sql TO tamis_reader;
  -- A function's owner needs this right for a moment.
  GRANT CREATE ON SCHEMA tamis_sql TO tamis_reader;
  ALTER FUNCTION tamis_sql.answer(text, text[], bigint, bigint) OWNER TO tamis_reader;
  REVOKE CREATE ON SCHEMA tamis_sql FROM tamis_reader;
END
$$;
