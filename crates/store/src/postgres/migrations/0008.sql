-- The machine that has the directory `root`, from which the files of a namespace come; null: every machine has it.
ALTER TABLE namespaces ADD COLUMN machine text;

-- What changes with a file besides its size and time of modification; 0: unknown.
ALTER TABLE documents ADD COLUMN stamp bigint NOT NULL DEFAULT 0;
