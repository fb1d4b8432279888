; Instead of the grammar's own tags, which take variables for what they hold.

(function_call_expression function: [(name) (qualified_name)] @name) @reference.call
(member_call_expression name: (name) @name) @reference.call
(nullsafe_member_call_expression name: (name) @name) @reference.call
(scoped_call_expression name: (name) @name) @reference.call
(object_creation_expression [(name) (qualified_name)] @name) @reference.call

(base_clause [(name) (qualified_name)] @name) @reference.implementation
(class_interface_clause [(name) (qualified_name)] @name) @reference.implementation
(use_declaration [(name) (qualified_name)] @name) @reference.implementation

(named_type [(name) (qualified_name)] @name) @reference.type
(scoped_call_expression scope: [(name) (qualified_name)] @name) @reference.type
(class_constant_access_expression . [(name) (qualified_name)] @name) @reference.type
(attribute [(name) (qualified_name)] @name) @reference.type
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @name) @reference.type
