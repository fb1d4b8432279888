CREATE TABLE models (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    -- An endpoint can return vectors of several lengths under one name.
    dimension INTEGER NOT NULL,
    UNIQUE (name, dimension)
);
-- Keys and last use, apart from the vectors: updating a day does not rewrite a vector.
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
