; The grammar has no tags of its own.

(call_expression . (identifier) @name) @reference.call
(call_expression . (navigation_expression (identifier) @name .)) @reference.call

(delegation_specifier (user_type (identifier) @name . (type_arguments)? .)) @reference.implementation
(delegation_specifier
  (constructor_invocation (user_type (identifier) @name . (type_arguments)? .))) @reference.implementation
(delegation_specifier
  (explicit_delegation (user_type (identifier) @name . (type_arguments)? .))) @reference.implementation

(user_type (identifier) @name . (type_arguments)? .) @reference.type
((navigation_expression . (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
