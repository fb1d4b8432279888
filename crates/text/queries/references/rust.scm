; What the grammar's own tags leave out.

(call_expression function: (scoped_identifier name: (identifier) @name)) @reference.call
(call_expression
  function: (generic_function
    function: [
      (identifier) @name
      (scoped_identifier name: (identifier) @name)
      (field_expression field: (field_identifier) @name)])) @reference.call
(macro_invocation macro: (scoped_identifier name: (identifier) @name)) @reference.call
; Inside of a macro there are only tokens.
(token_tree (identifier) @name . (token_tree "(")) @reference.call

(impl_item trait: (generic_type type: (_) @name)) @reference.implementation
(impl_item trait: (scoped_type_identifier name: (_) @name)) @reference.implementation
((attribute (identifier) @attribute arguments: (token_tree (identifier) @name)) @reference.implementation
  (#eq? @attribute "derive"))

(type_identifier) @name @reference.type
((scoped_identifier path: [(identifier) @name (scoped_identifier name: (identifier) @name)]) @reference.type
  (#match? @name "^[A-Z]"))
