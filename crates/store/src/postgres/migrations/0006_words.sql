-- Finds passages that have a word of each list, within the namespaces of the transaction. A list that is NULL asks for nothing.
CREATE FUNCTION words_with_each(first bigint[], second bigint[], third bigint[], fourth bigint[])
RETURNS TABLE(namespace text, passage bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tamis, pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT w.namespace, w.passage FROM words w WHERE w.namespace = ANY($1) AND w.terms && $2'
      || CASE WHEN second IS NULL THEN '' ELSE ' AND w.terms && $3' END
      || CASE WHEN third IS NULL THEN '' ELSE ' AND w.terms && $4' END
      || CASE WHEN fourth IS NULL THEN '' ELSE ' AND w.terms && $5' END
    USING visible_namespaces(), first, second, third, fourth;
END
$$;

REVOKE ALL ON FUNCTION words_with_each(bigint[], bigint[], bigint[], bigint[]) FROM PUBLIC;
