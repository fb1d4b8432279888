; What the grammar's own tags leave out.

(decorator [(identifier) @name (attribute attribute: (identifier) @name)]) @reference.call

(class_definition
  superclasses: (argument_list [
    (identifier) @name
    (attribute attribute: (identifier) @name)
    (subscript value: (identifier) @name)])) @reference.implementation

(type [
  (identifier) @name
  (attribute attribute: (identifier) @name)
  (subscript value: (identifier) @name)
  (generic_type (identifier) @name)
  (binary_operator (identifier) @name)]) @reference.type
(type (binary_operator (subscript value: (identifier) @name))) @reference.type
