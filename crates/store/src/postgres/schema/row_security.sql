-- Makes the role that reads some namespaces, and the policies that keep it to them. It reads what the policies let through, and
-- nothing in a transaction that names no namespaces. Other users read as before: a policy takes nothing from them.
--
-- A role needs the right to make roles, which the owner of these tables may lack: then nothing happens here, and the filters of
-- searches are the only wall until an administrator has made the role.
DO $$
DECLARE
  visible CONSTANT text := '((SELECT nullif(current_setting(''tamis.namespaces'', true), '''')::text[])::text[])';
  named text;
BEGIN
  IF to_regrole('tamis_searcher') IS NULL THEN
    BEGIN
      CREATE ROLE tamis_searcher NOLOGIN NOINHERIT;
    EXCEPTION
      WHEN insufficient_privilege THEN RETURN;
      -- Another database of the server made it at the same time.
      WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END IF;
  IF NOT pg_has_role('tamis_searcher', 'SET') THEN
    BEGIN
      EXECUTE format('GRANT tamis_searcher TO %I WITH SET TRUE, INHERIT FALSE', current_user);
    EXCEPTION WHEN insufficient_privilege THEN RETURN;
    END;
  END IF;
  FOREACH named IN ARRAY ARRAY['properties', 'namespaces', 'documents', 'attributes', 'passages', 'words', 'frequencies', 'vectors', 'coverages',
    'evidence_tasks', 'evidence_works', 'evidence_pages', 'evidence_fragments', 'evidence_claims', 'evidence_edges',
    'usage_searches', 'usage_judgements', 'usage_openings', 'usage_quality'] LOOP
    EXECUTE format('DROP POLICY IF EXISTS others ON %I', named);
    EXECUTE format('DROP POLICY IF EXISTS of_namespaces ON %I', named);
    EXECUTE format('CREATE POLICY others ON %I TO PUBLIC USING (true)', named);
    -- What is recorded of a search has the names of all its namespaces, joined by commas.
    EXECUTE format('CREATE POLICY of_namespaces ON %I AS RESTRICTIVE TO tamis_searcher USING (%s)', named,
      CASE WHEN named LIKE 'usage_%' THEN 'string_to_array(namespace, '','') <@ ' ELSE 'namespace = ANY ' END || visible);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', named);
    EXECUTE format('GRANT SELECT ON %I TO tamis_searcher', named);
  END LOOP;
  GRANT USAGE ON SCHEMA tamis TO tamis_searcher;
  -- The owner of another schema may have to grant this.
  BEGIN
    FOR named IN SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
      WHERE e.extname IN ('vector', 'pg_textsearch') AND n.nspname <> 'public' LOOP
      EXECUTE format('GRANT USAGE ON SCHEMA %I TO tamis_searcher', named);
    END LOOP;
  EXCEPTION WHEN insufficient_privilege THEN NULL;
  END;
  GRANT SELECT ON models TO tamis_searcher;
  FOREACH named IN ARRAY ARRAY['words_with_any(bigint[])', 'words_with_all(bigint[])', 'words_defining(text[])', 'passages_of_all()',
    'words_with_each(bigint[], bigint[], bigint[], bigint[])'] LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tamis_searcher', named);
  END LOOP;
END
$$;
