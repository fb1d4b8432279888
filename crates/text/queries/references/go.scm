; What the grammar's own tags leave out: what a type is made of by embedding.

(field_declaration !name type: (_) @name) @reference.implementation
(interface_type (type_elem (_) @name)) @reference.implementation
