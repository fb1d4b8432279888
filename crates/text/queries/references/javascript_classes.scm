(class_heritage [(identifier) @name (member_expression property: (_) @name)]) @reference.implementation
