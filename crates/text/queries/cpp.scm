; What neither the grammar's own tags nor the additions for C have.

(namespace_definition name: (_) @name) @definition.module
(alias_declaration name: (type_identifier) @name) @definition.alias
(concept_definition name: (identifier) @name) @definition.interface
(function_declarator declarator: (qualified_identifier) @name) @definition.method
(function_declarator declarator: [(destructor_name) (operator_name) (template_function)] @name) @definition.function
(function_definition declarator: (operator_cast) @name) @definition.method
(struct_specifier name: (template_type) @name body: (_)) @definition.class
(class_specifier name: (template_type) @name body: (_)) @definition.class

; `class EXPORT Name { … }`, which the grammar, knowing no macros, takes for a function.
(function_definition
  type: [(class_specifier name: (_) !body) (struct_specifier name: (_) !body)]
  declarator: (identifier) @name
  body: (compound_statement)) @definition.class

(template_declaration) @wrap
