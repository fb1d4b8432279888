; The grammar has no tags of its own.

(function_definition name: (word) @name) @definition.function

; Other assignments are steps of the script that they stand in.
(program (declaration_command ["readonly" "declare"] (variable_assignment name: (variable_name) @name)) @definition.constant)

(comment) @lead
