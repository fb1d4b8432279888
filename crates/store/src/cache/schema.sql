CREATE TABLE models (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    -- An endpoint can give vectors of several lengths under one name.
    dimension INTEGER NOT NULL,
    UNIQUE (name, dimension)
);
-- What is looked up and when it last served, apart from the vectors: to move a day rewrites no vector.
CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    model INTEGER NOT NULL REFERENCES models (number),
    hash BLOB NOT NULL,
    day INTEGER NOT NULL,
    UNIQUE (model, hash)
);
CREATE INDEX entries_by_day ON entries (day, number);
-- Entries as 32-bit floats, little-endian.
CREATE TABLE vectors (
    number INTEGER PRIMARY KEY,
    vector BLOB NOT NULL
);
CREATE TABLE pruned (
    day INTEGER NOT NULL
);
