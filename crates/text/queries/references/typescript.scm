; What neither the grammar's own tags nor those of JavaScript have.

(extends_clause value: (_) @name) @reference.implementation
(implements_clause (_) @name) @reference.implementation
(extends_type_clause type: (_) @name) @reference.implementation

(type_identifier) @name @reference.type
