; Instead of the grammar's own tags, which take the whole class for each of its methods.

(class_declaration name: (_) @name) @definition.class
(class_declaration declaration_kind: "extension" name: (_) @name) @definition.implementation
(protocol_declaration name: (type_identifier) @name) @definition.interface
(typealias_declaration name: (type_identifier) @name) @definition.alias
(function_declaration name: (simple_identifier) @name) @definition.function
(function_declaration
  name: [
    (custom_operator) (bang)
    "!=" "!==" "%" "%=" "&" "*" "*=" "+" "++" "+=" "-" "--" "-=" "/" "/=" "<" "<<" "<=" "=" "==" "===" ">" ">=" ">>"
    "^" "|" "~"
  ] @name) @definition.function
(init_declaration "init" @name) @definition.method
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name) @definition.method
(macro_declaration (simple_identifier) @name) @definition.macro

; A property that computes is a method; one that only stores belongs to its type.
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_)) @definition.method
(source_file
  (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)

[(comment) (multiline_comment)] @lead
