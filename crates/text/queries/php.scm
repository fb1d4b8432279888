; What the grammar's own tags leave out.

(enum_declaration name: (name) @name) @definition.class
(program (const_declaration (const_element . (name) @name)) @definition.constant)
((expression_statement
  (function_call_expression function: (name) @function arguments: (arguments . (argument (string) @name))))
  @definition.constant
  (#eq? @function "define"))

(namespace_definition name: (namespace_name) @namespace !body)

(comment) @lead
