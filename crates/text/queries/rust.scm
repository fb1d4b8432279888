; What the grammar's own tags leave out.

(impl_item type: (_) @name) @definition.implementation
(type_item name: (type_identifier) @name) @definition.alias
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.constant

[(line_comment) (block_comment) (attribute_item)] @lead
