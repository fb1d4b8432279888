-- Finds words without reading past the policies of `words`. A condition on a list of words may reveal a row by an error, so below a
-- policy the server uses no index for it. These functions run as the owner of the tables, keep to the namespaces of the transaction
-- themselves, and return nothing but the keys of passages.
--
-- Each is planned for its values, since frequent and rare words are found differently.
--
-- Two find words before they look at namespaces. A word's number belongs to one namespace, so nearly all that is found passes.
-- The server knows little of a namespace that was just written. It takes it for small and would read all of it; `IS TRUE` prevents that.

CREATE FUNCTION visible_namespaces() RETURNS text[] LANGUAGE sql STABLE
AS $$ SELECT nullif(current_setting('tamis.namespaces', true), '')::text[] $$;

CREATE FUNCTION words_with_any(wanted bigint[]) RETURNS TABLE(namespace text, passage bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tamis, pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT w.namespace, w.passage FROM words w WHERE w.namespace = ANY($1) AND w.terms && $2'
    USING visible_namespaces(), wanted;
END
$$;

CREATE FUNCTION words_with_all(wanted bigint[]) RETURNS TABLE(namespace text, passage bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tamis, pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT w.namespace, w.passage FROM words w WHERE (w.namespace = ANY($1)) IS TRUE AND w.terms @> $2'
    USING visible_namespaces(), wanted;
END
$$;

-- Passages that have a word of each list. A list that is NULL asks for nothing.
CREATE FUNCTION words_with_each(first bigint[], second bigint[], third bigint[], fourth bigint[])
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

CREATE FUNCTION words_defining(wanted text[]) RETURNS TABLE(namespace text, passage bigint) LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = tamis, pg_catalog, pg_temp
AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT w.namespace, w.passage FROM words w WHERE w.namespace = ANY($1) AND w.symbols @> $2'
    USING visible_namespaces(), wanted;
END
$$;

-- The number of passages of all namespaces, which decides how some of them are searched.
CREATE FUNCTION passages_of_all() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = tamis, pg_catalog, pg_temp
AS $$ SELECT coalesce(sum(n.passages), 0)::bigint FROM namespaces n $$;

REVOKE ALL ON FUNCTION words_with_any(bigint[]), words_with_all(bigint[]),
  words_with_each(bigint[], bigint[], bigint[], bigint[]), words_defining(text[]), passages_of_all() FROM PUBLIC;
