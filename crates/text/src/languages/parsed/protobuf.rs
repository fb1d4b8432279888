//! Protocol Buffers.

use super::grammar;
use crate::languages::grammar::{Grammar, Naming};
use crate::languages::language::{Language, Parsing};

pub(in crate::languages) const LANGUAGE: Language =
    Language::code("protobuf", "Protocol Buffers", &["proto"]).parsed(GRAMMAR).aliases(&["protocolbuffer"]);

const GRAMMAR: Parsing = grammar!(
    "protobuf",
    Grammar {
        language: || tree_sitter_proto::LANGUAGE.into(),
        definitions: &[DEFINITIONS],
        references: &[REFERENCES],
        depth: 8,
        naming: Naming::DOTS,
        rewrite: None,
        title: None,
    }
);

const DEFINITIONS: &str = r"
; The grammar has no tags of its own.

(package (full_ident) @namespace)
(message (message_name) @name) @definition.class
(enum (enum_name) @name) @definition.class
(service (service_name) @name) @definition.interface
(rpc (rpc_name) @name) @definition.method

(comment) @lead
";

const REFERENCES: &str = r"
; The grammar has no tags of its own.

(message_or_enum_type) @name @reference.type
(extend (full_ident) @name) @reference.implementation
";
