-- The machine that has the directory `root`, from which the files of a namespace come; NULL: every machine has it. The next run
-- says anew which directory that is.
ALTER TABLE namespaces ADD COLUMN machine TEXT;
UPDATE namespaces SET root = NULL;

-- What changes with a file besides its size and time of modification; 0: unknown.
ALTER TABLE documents ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0;
