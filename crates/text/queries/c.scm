; What the grammar's own tags leave out.

(union_specifier name: (type_identifier) @name body: (_)) @definition.class
(preproc_def name: (identifier) @name) @definition.constant
(preproc_function_def name: (identifier) @name) @definition.macro
(translation_unit (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
(preproc_ifdef (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
(preproc_if (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)
(declaration_list (declaration declarator: (init_declarator declarator: (_) @name)) @definition.constant)

[(function_definition) (declaration)] @wrap
(comment) @lead
