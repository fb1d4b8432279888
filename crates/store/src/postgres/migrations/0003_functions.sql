
-- The functions of untrusted statements, where the server's own are missing, differ, or take more than linear time and memory.
-- The state TS001 means a value that is too long, TS002 a pattern or a text to look for that is too long.

CREATE FUNCTION tamis_sql.bounded(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
BEGIN
  IF octet_length(value) > 131072 THEN RAISE SQLSTATE 'TS001'; END IF;
  RETURN value;
END
$$;

CREATE FUNCTION tamis_sql.joined(a text, b text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
BEGIN
  IF octet_length(a) + octet_length(b) > 131072 THEN RAISE SQLSTATE 'TS001'; END IF;
  RETURN a || b;
END
$$;

CREATE FUNCTION tamis_sql.sought(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
BEGIN
  IF octet_length(value) > 1000 THEN RAISE SQLSTATE 'TS002'; END IF;
  RETURN value;
END
$$;

CREATE FUNCTION tamis_sql.repeat(value text, times bigint) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
BEGIN
  IF times > 131072 OR octet_length(value) * greatest(times, 0) > 131072 THEN RAISE SQLSTATE 'TS001'; END IF;
  RETURN pg_catalog.repeat(value, times::integer);
END
$$;

CREATE FUNCTION tamis_sql.replace(value text, wanted text, other text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
BEGIN
  IF wanted = '' THEN RETURN value; END IF;
  -- The result cannot be longer than if nothing but `wanted` stood there.
  IF octet_length(value)::bigint / octet_length(tamis_sql.sought(wanted)) * octet_length(other) > 16777216 THEN
    RAISE SQLSTATE 'TS001';
  END IF;
  RETURN tamis_sql.bounded(pg_catalog.replace(value, wanted, other));
END
$$;

-- As in the embedded store: a start below zero counts from the end, a count below zero takes what is before the start.
CREATE FUNCTION tamis_sql.substr(value text, start bigint, count bigint) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
DECLARE
  many bigint := least(abs(greatest(count, -1000000000)), 1000000000);
  at bigint := greatest(least(start, 1000000000), -1000000000);
BEGIN
  IF at < 0 THEN
    at := at + pg_catalog.length(value);
    IF at < 0 THEN
      many := greatest(many + at, 0);
      at := 0;
    END IF;
  ELSIF at > 0 THEN
    at := at - 1;
  ELSIF many > 0 THEN
    many := many - 1;
  END IF;
  IF count < 0 THEN
    at := at - many;
    IF at < 0 THEN
      many := many + at;
      at := 0;
    END IF;
  END IF;
  RETURN pg_catalog.substr(value, at::integer + 1, many::integer);
END
$$;

CREATE FUNCTION tamis_sql.substr(value text, start bigint) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
AS $$ BEGIN RETURN tamis_sql.substr(value, start, 1000000000); END $$;

CREATE FUNCTION tamis_sql.length(value bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT pg_catalog.length(value::text)::bigint $$;

CREATE FUNCTION tamis_sql.to_text(value bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT convert_from(value, 'UTF8') $$;

CREATE FUNCTION tamis_sql.hex(value bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT tamis_sql.bounded(pg_catalog.upper(encode(value, 'hex'))) $$;
CREATE FUNCTION tamis_sql.hex(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT tamis_sql.hex(convert_to(value, 'UTF8')) $$;
CREATE FUNCTION tamis_sql.hex(value bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT tamis_sql.hex(value::text) $$;

CREATE FUNCTION tamis_sql.typeof(value anyelement) RETURNS text LANGUAGE sql IMMUTABLE
AS $$
  SELECT CASE WHEN value IS NULL THEN 'null' WHEN pg_typeof(value)::text IN ('bigint', 'integer', 'smallint', 'boolean') THEN 'integer'
    WHEN pg_typeof(value)::text IN ('double precision', 'real', 'numeric') THEN 'real' WHEN pg_typeof(value)::text = 'bytea' THEN 'blob'
    ELSE 'text' END
$$;

-- The whole number that a text begins with, or zero.
CREATE FUNCTION tamis_sql.to_integer(value text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
DECLARE
  digits text := ltrim(pg_catalog.substr(value, 1, 60));
  ends integer := 1;
BEGIN
  IF pg_catalog.substr(digits, 1, 1) IN ('-', '+') THEN ends := 2; END IF;
  WHILE ascii(pg_catalog.substr(digits, ends, 1)) BETWEEN 48 AND 57 LOOP ends := ends + 1; END LOOP;
  digits := pg_catalog.substr(digits, 1, ends - 1);
  IF digits IN ('', '-', '+') THEN RETURN 0; END IF;
  RETURN least(greatest(digits::numeric, -9223372036854775808), 9223372036854775807)::bigint;
END
$$;
CREATE FUNCTION tamis_sql.to_integer(value bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT value $$;
CREATE FUNCTION tamis_sql.to_integer(value double precision) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
AS $$
  SELECT CASE WHEN value >= 9.2233720368547748e18 THEN 9223372036854775807 WHEN value <= -9.2233720368547758e18
    THEN -9223372036854775808 WHEN value = 'NaN' THEN 0 ELSE trunc(value)::bigint END
$$;
CREATE FUNCTION tamis_sql.to_integer(value boolean) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT value::integer::bigint $$;

-- As in the embedded store, a half is rounded away from zero, and what has no result is null.
CREATE FUNCTION tamis_sql.round(value double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT CASE WHEN abs(value) < 1e15 THEN pg_catalog.round(value::numeric)::double precision ELSE value END $$;
CREATE FUNCTION tamis_sql.round(value double precision, digits bigint) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT
AS $$
  SELECT CASE WHEN abs(value) < 1e15
    THEN pg_catalog.round(value::numeric, greatest(least(digits, 30), 0)::integer)::double precision ELSE value END
$$;
CREATE FUNCTION tamis_sql.ceil(value bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT value $$;
CREATE FUNCTION tamis_sql.floor(value bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT value $$;
CREATE FUNCTION tamis_sql.sign(value bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT CASE WHEN value > 0 THEN 1::bigint WHEN value < 0 THEN -1::bigint ELSE 0::bigint END $$;
CREATE FUNCTION tamis_sql.sqrt(value double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT CASE WHEN value >= 0 THEN pg_catalog.sqrt(value) END $$;
CREATE FUNCTION tamis_sql.ln(value double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT CASE WHEN value > 0 THEN pg_catalog.ln(value) END $$;
CREATE FUNCTION tamis_sql.log(value double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT CASE WHEN value > 0 THEN pg_catalog.log(value) END $$;
CREATE FUNCTION tamis_sql.log(base double precision, value double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT CASE WHEN value > 0 AND base > 0 AND base <> 1 THEN pg_catalog.ln(value) / pg_catalog.ln(base) END $$;
CREATE FUNCTION tamis_sql.log2(value double precision) RETURNS double precision LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT CASE WHEN value > 0 THEN pg_catalog.ln(value) / pg_catalog.ln(2::double precision) END $$;

-- The lesser or greater of two values, null if one is.
CREATE FUNCTION tamis_sql.lesser(a anycompatible, b anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT least(a, b) $$;
CREATE FUNCTION tamis_sql.greater(a anycompatible, b anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT greatest(a, b) $$;

CREATE FUNCTION tamis_sql.json_array_length(value text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT
AS $$ SELECT CASE WHEN jsonb_typeof(value::jsonb) = 'array' THEN jsonb_array_length(value::jsonb)::bigint ELSE 0 END $$;

-- The elements of an array or an object, each with its place or name.
CREATE FUNCTION tamis_sql.json_each(text) RETURNS TABLE(key text, value text) LANGUAGE sql IMMUTABLE STRICT
AS $$
  SELECT (at - 1)::text, part #>> '{}'
  FROM jsonb_array_elements(CASE jsonb_typeof($1::jsonb) WHEN 'array' THEN $1::jsonb ELSE '[]' END) WITH ORDINALITY AS a(part, at)
  UNION ALL
  SELECT o.key, o.value #>> '{}' FROM jsonb_each(CASE jsonb_typeof($1::jsonb) WHEN 'object' THEN $1::jsonb ELSE '{}' END) AS o
$$;

CREATE AGGREGATE tamis_sql.sum(bigint) (SFUNC = pg_catalog.int8pl, STYPE = bigint);
CREATE FUNCTION tamis_sql.count_true(counted bigint, value boolean) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
AS $$ BEGIN RETURN CASE WHEN value IS NULL THEN counted ELSE coalesce(counted, 0) + value::integer END; END $$;
CREATE AGGREGATE tamis_sql.sum(boolean) (SFUNC = tamis_sql.count_true, STYPE = bigint);
CREATE AGGREGATE tamis_sql.max(boolean) (SFUNC = pg_catalog.boolor_statefunc, STYPE = boolean);
CREATE AGGREGATE tamis_sql.min(boolean) (SFUNC = pg_catalog.booland_statefunc, STYPE = boolean);

CREATE FUNCTION tamis_sql.gather(gathered text, value text, between_them text) RETURNS text LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
  IF value IS NULL THEN RETURN gathered; END IF;
  IF gathered IS NULL THEN RETURN tamis_sql.bounded(value); END IF;
  IF octet_length(gathered) + octet_length(between_them) + octet_length(value) > 131072 THEN RAISE SQLSTATE 'TS001'; END IF;
  RETURN concat(gathered, between_them, value);
END
$$;
CREATE AGGREGATE tamis_sql.gathered(text, text) (SFUNC = tamis_sql.gather, STYPE = text);

-- Runs a statement and returns its rows as texts of at most 2,000 characters, with the lengths of the longer ones. Its owner is
-- the reader, so it runs with the reader's rights, and within it no statement can take on another role.
CREATE FUNCTION tamis_sql.answer(statement text, parameters text[], most_rows bigint, most_bytes bigint)
RETURNS TABLE(shown text[], lengths bigint[]) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = tamis_sql, pg_catalog, pg_temp
AS $$
DECLARE
  rows bigint := 0;
  bytes bigint := 0;
BEGIN
  -- A copy of the tables can give this function to somebody with more rights.
  IF current_user <> 'tamis_reader' THEN
    RAISE insufficient_privilege USING MESSAGE = 'this function is not the reader''s';
  END IF;
  FOR shown, lengths IN EXECUTE statement USING parameters LOOP
    RETURN NEXT;
    rows := rows + 1;
    bytes := bytes + octet_length(array_to_string(shown, ''));
    EXIT WHEN rows > most_rows OR bytes > most_bytes;
  END LOOP;
END
$$;

-- None of these is for others.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tamis_sql FROM PUBLIC;
