//! The MCP face of Tamis: the library's own calls as tools, on standard input and output or over HTTP.
