//! HCL, the language of Terraform.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("hcl", "HCL", &["hcl", "tf", "tfvars"]).parsed(GRAMMAR).aliases(&["terraform"]);

const GRAMMAR: Parsing = grammar!(
    "hcl",
    Grammar {
        language: || tree_sitter_hcl::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 5,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r#"
; The grammar has no tags of its own. Blocks are named as expressions refer to them: `aws_instance.gateway`.

(config_file (body (block (string_lit) @scope . (string_lit) @name . (block_start)) @definition.class))
((config_file (body (block . (identifier) @scope . (string_lit) @name . (block_start)) @definition.class))
  (#not-any-of? @scope "variable" "output"))
((config_file (body (block . (identifier) @scope . (string_lit) @name . (block_start)) @definition.constant))
  (#any-of? @scope "variable" "output"))
((config_file (body (block . (identifier) @scope (body (attribute . (identifier) @name) @definition.constant))))
  (#eq? @scope "locals"))

(comment) @lead
"#;

const REFERENCES: &str = r#"
; The grammar has no tags of its own.

(function_call (identifier) @name) @reference.call

; `var.region`, `aws_instance.gateway.id`, `data.aws_ami.base.id`
((expression . (variable_expr (identifier) @root) . (get_attr (identifier) @name)) @reference.type
  (#not-any-of? @root "data" "each" "self" "count" "path" "terraform"))
((expression . (variable_expr (identifier) @root) . (get_attr) . (get_attr (identifier) @name)) @reference.type
  (#eq? @root "data"))
((template_interpolation (expression . (variable_expr (identifier) @root) . (get_attr (identifier) @name))) @reference.type
  (#not-any-of? @root "data" "each" "self" "count" "path" "terraform"))
"#;
