; What the grammar's own tags leave out.

(method_definition name: (_) @name) @definition.method
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @definition.constant)
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant))

((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @scope property: (property_identifier) @prototype)
    property: (property_identifier) @name)
  right: [(function_expression) (arrow_function)]) @definition.method
  (#eq? @prototype "prototype"))

(export_statement "default" @name value: [(arrow_function) (class) (function_expression)]) @definition.function

(export_statement declaration: (_)) @wrap
[(comment) (decorator)] @lead
