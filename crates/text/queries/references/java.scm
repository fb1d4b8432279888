; What the grammar's own tags leave out.

(object_creation_expression type: (_) @name) @reference.call
(method_reference (identifier) @name .) @reference.call

(superclass (_) @name) @reference.implementation
(type_list (generic_type (type_identifier) @name)) @reference.implementation

(type_identifier) @name @reference.type
(marker_annotation name: (_) @name) @reference.type
(annotation name: (_) @name) @reference.type
((method_invocation object: (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
