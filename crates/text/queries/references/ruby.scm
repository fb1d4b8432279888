; Instead of the grammar's own tags, which take every name for a call.

(call method: (_) @name) @reference.call
; A name that stands alone is a call without arguments: an assignment is no statement of its own name.
(body_statement (identifier) @name) @reference.call

(superclass [(constant) @name (scope_resolution name: (_) @name)]) @reference.implementation
((call
  method: (identifier) @method
  arguments: (argument_list [(constant) @name (scope_resolution name: (_) @name)])) @reference.implementation
  (#any-of? @method "extend" "include" "prepend"))

(constant) @name @reference.type
