//! The JSON API of `tamis serve` over real connections: every route, its errors, and the gate around it.

#[allow(dead_code)]
#[path = "../mcp_http/support.rs"]
mod support;

#[path = "../commands/json_schema.rs"]
mod json_schema;

mod events;
mod gate;
mod page;
mod problems;
mod routes;
mod schemathesis;
mod served;
