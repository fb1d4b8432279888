; What the grammar's own tags leave out.

(invocation_expression function: [(identifier) (generic_name)] @name) @reference.call
(invocation_expression function: (member_access_expression name: (_) @name)) @reference.call
(member_binding_expression name: (_) @name) @reference.call
(object_creation_expression type: (_) @name) @reference.call

(base_list [(identifier) (generic_name) (qualified_name)] @name) @reference.implementation

(_ type: [(identifier) (generic_name) (qualified_name)] @name) @reference.type
(_ returns: [(identifier) (generic_name) (qualified_name)] @name) @reference.type
(type_argument_list [(identifier) (generic_name) (qualified_name)] @name) @reference.type
(attribute name: (_) @name) @reference.type
((member_access_expression expression: (identifier) @name) @reference.type (#match? @name "^[A-Z]"))
