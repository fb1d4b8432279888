; The grammar has no tags of its own.

(class_declaration name: (identifier) @name) @definition.class
(class_declaration "interface" name: (identifier) @name) @definition.interface
(object_declaration name: (identifier) @name) @definition.class
(type_alias type: (identifier) @name) @definition.alias
(function_declaration name: (identifier) @name) @definition.function
(function_declaration (_) @scope . "." . name: (identifier) @name) @definition.method
(secondary_constructor "constructor" @name) @definition.method

; A property that computes is a method; one that only stores belongs to its type.
(property_declaration (variable_declaration (identifier) @name) [(getter) (setter)]) @definition.method
(property_declaration (_) @scope . "." . (variable_declaration (identifier) @name)) @definition.method
(source_file (property_declaration (variable_declaration (identifier) @name)) @definition.constant)

[(line_comment) (block_comment)] @lead
