; Instead of the grammar's own tags, which have no references.

(call_expression . (simple_identifier) @name) @reference.call
(call_expression . (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @name))) @reference.call
(macro_invocation (simple_identifier) @name) @reference.call

(inheritance_specifier inherits_from: (user_type (type_identifier) @name)) @reference.implementation

(user_type (type_identifier) @name) @reference.type
((navigation_expression target: (simple_identifier) @name) @reference.type (#match? @name "^[A-Z]"))
