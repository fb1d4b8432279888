; What the grammar's own tags leave out.

(struct_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(enum_declaration name: (identifier) @name) @definition.class
(delegate_declaration name: (identifier) @name) @definition.alias
(constructor_declaration name: (identifier) @name) @definition.method
(destructor_declaration "~" @name name: (identifier) @name) @definition.method
(operator_declaration "operator" @name operator: _ @name) @definition.method
(conversion_operator_declaration "operator" @name type: (_) @name) @definition.method
(indexer_declaration "this" @name) @definition.method
(local_function_statement name: (identifier) @name) @definition.function

; A property that computes is a method; one that only stores belongs to its type.
(property_declaration name: (identifier) @name value: (arrow_expression_clause)) @definition.method
(property_declaration
  name: (identifier) @name
  accessors: (accessor_list (accessor_declaration body: (_)))) @definition.method
(event_declaration name: (identifier) @name accessors: (_)) @definition.method

(namespace_declaration name: (_) @name) @definition.module
(file_scoped_namespace_declaration name: (_) @namespace)

(comment) @lead
