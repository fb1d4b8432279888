//! A JSON Schema that answers are held to.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

/// A schema of draft 2020-12, compiled.
pub struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    pub fn new(schema: &Value) -> Self {
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        compiler.add_resource("schema.json", schema.clone()).expect("a name of its own");
        let index = compiler.compile("schema.json", &mut schemas).expect("a schema");
        Schema { schemas, index }
    }

    /// Returns what is wrong with a value and where, or `Ok` if the schema allows it.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.schemas.validate(value, self.index).map_err(|error| format!("{error:#}"))
    }
}
