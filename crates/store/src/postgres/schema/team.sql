-- What the processes of a team share besides the content: trees that wait to be indexed, and sessions of clients.
--
-- These tables stay small and are not distributed: workers take a job with FOR UPDATE SKIP LOCKED, over all namespaces.

-- A finished job stays until the next one of its namespace ends. A running job belongs to the worker whose session holds the
-- advisory lock of its namespace; without that lock it is free again.
CREATE TABLE jobs(
  job bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  namespace text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,   -- the tree, on the workers' machines
  state text COLLATE "C" NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed')),
  starts integer NOT NULL DEFAULT 0,             -- how often a worker took it; tells a worker from the one before it
  failures integer NOT NULL DEFAULT 0,
  lost integer NOT NULL DEFAULT 0,  -- how often a worker ended in the middle of it
  worker text COLLATE "C",          -- the last worker, as its machine and process
  reason text COLLATE "C",          -- of the last failure
  added_ms bigint NOT NULL,         -- milliseconds since 1970, by the server's clock, like all times here
  not_before_ms bigint NOT NULL DEFAULT 0,
  started_ms bigint,
  ended_ms bigint
);

CREATE UNIQUE INDEX jobs_waiting ON jobs(namespace) WHERE state = 'waiting';
CREATE INDEX jobs_namespace ON jobs(namespace, job);

-- Sessions of the older versions of the Model Context Protocol, so that every server knows those that another one opened.
CREATE TABLE sessions(
  session text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,  -- a hash of the token or address that opened it
  opened text COLLATE "C" NOT NULL, -- its opening message, as JSON
  opened_ms bigint NOT NULL,
  used_ms bigint NOT NULL
);

CREATE INDEX sessions_owner ON sessions(owner, opened_ms);
CREATE INDEX sessions_used ON sessions(used_ms);
