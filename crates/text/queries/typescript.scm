; What neither the grammar's own tags nor those of JavaScript have.

(type_alias_declaration name: (type_identifier) @name) @definition.alias
(enum_declaration name: (identifier) @name) @definition.class
(internal_module name: (_) @name) @definition.module
(module name: (_) @name) @definition.module
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @definition.method
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant)

(ambient_declaration) @wrap
