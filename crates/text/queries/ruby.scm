; What the grammar's own tags leave out.

(class name: (scope_resolution scope: (_) @scope name: (_) @name)) @definition.class
(module name: (scope_resolution scope: (_) @scope name: (_) @name)) @definition.module
(program (assignment left: (constant) @name) @definition.constant)

((assignment
  left: (constant) @name
  right: (call receiver: (constant) @receiver method: (identifier) @method block: (_))) @definition.class
  (#any-of? @receiver "Class" "Data" "Module" "Struct")
  (#any-of? @method "define" "new"))

((call method: (identifier) @method arguments: (argument_list . (simple_symbol) @name) block: (_)) @definition.method
  (#eq? @method "define_method"))

((call
  method: (identifier) @method
  arguments: (argument_list . [
    (simple_symbol) @name
    (pair key: [(simple_symbol) (hash_key_symbol)] @name)])
  block: (_)) @definition.function
  (#eq? @method "task"))

(comment) @lead
