; What C has not.

(call_expression function: (qualified_identifier name: (_) @name)) @reference.call
(call_expression function: (template_function name: (_) @name)) @reference.call
(call_expression function: (field_expression field: (template_method name: (_) @name))) @reference.call
(new_expression type: (_) @name) @reference.call

(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @name) @reference.implementation
((qualified_identifier scope: (namespace_identifier) @name) @reference.type (#match? @name "^[A-Z]"))
