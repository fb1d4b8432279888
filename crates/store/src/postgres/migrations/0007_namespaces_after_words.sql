-- The functions find words before they look at namespaces. A word's number belongs to one namespace, so nearly all that is found passes.
-- The server knows little of a namespace that was just written. It takes it for small and would read all of it; `IS TRUE` prevents that.

CREATE OR REPLACE FUNCTION words_with_all(wanted bigint[]) RETURNS TABLE(namespace text, passage bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = tamis, pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT w.namespace, w.passage FROM words w WHERE (w.namespace = ANY($1)) IS TRUE AND w.terms @> $2'
    USING visible_namespaces(), wanted;
END
$$;

CREATE OR REPLACE FUNCTION words_with_each(first bigint[], second bigint[], third bigint[], fourth bigint[])
RETURNS TABLE(namespace text, passage bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tamis, pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT w.namespace, w.passage FROM words w WHERE (w.namespace = ANY($1)) IS TRUE AND w.terms && $2'
      || CASE WHEN second IS NULL THEN '' ELSE ' AND w.terms && $3' END
      || CASE WHEN third IS NULL THEN '' ELSE ' AND w.terms && $4' END
      || CASE WHEN fourth IS NULL THEN '' ELSE ' AND w.terms && $5' END
    USING visible_namespaces(), first, second, third, fourth;
END
$$;
