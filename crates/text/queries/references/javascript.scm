; What the grammar's own tags leave out.

(new_expression constructor: (_) @name) @reference.call
(decorator [(identifier) @name (member_expression property: (_) @name)]) @reference.call
((member_expression object: (identifier) @name) @reference.type (#match? @name "^[A-Z][a-z]"))
