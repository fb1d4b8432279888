; What the grammar's own tags leave out.

(module (expression_statement (assignment left: (identifier) @name)) @definition.constant)
(module (type_alias_statement left: (type (identifier) @name)) @definition.alias)

(decorated_definition) @wrap
(comment) @lead
