; The grammar has no tags of its own.

(command name: (command_name (word) @name)) @reference.call
