// The two generations of the official client library behind one face.

// What the server is started with over standard streams: nothing that the machine configures.
export function environment() {
  const served = JSON.parse(process.env.TAMIS_SERVED_WITH ?? "[]");
  return { PATH: process.env.PATH ?? "", ...Object.fromEntries(served) };
}

const loaders = {
  // Speaks 2026-07-28 where it is asked to, and what came before otherwise.
  async client() {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const call = (client, request, options) => client.callTool(request, options);
    return { Client, StdioClientTransport, StreamableHTTPClientTransport, call };
  },
  // Speaks 2025-11-25 and what came before.
  async sdk() {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const call = (client, request, options) => client.callTool(request, undefined, options);
    return { Client, StdioClientTransport, StreamableHTTPClientTransport, call };
  },
};

// A client that is connected. `place`: { url } or { binary, project }.
export async function connect(library, begins, place) {
  const { Client, StdioClientTransport, StreamableHTTPClientTransport, call } = await loaders[library]();
  const mode = begins === "auto" ? "auto" : { pin: begins };
  const options = library === "client" ? { versionNegotiation: { mode } } : {};
  const client = new Client({ name: "tamis-conformance", version: "1.0.0" }, options);
  const transport = place.url
    ? new StreamableHTTPClientTransport(new URL(place.url))
    : new StdioClientTransport({
        command: place.binary,
        args: ["mcp", "--output-schemas", "--allow-remember", "--allow-feedback"],
        cwd: place.project,
        env: environment(),
        stderr: "pipe",
      });
  await client.connect(transport);
  return { client, transport, call: (name, args, options) => call(client, { name, arguments: args }, options) };
}

// The text form of a tool's answer.
export function text(answer) {
  return answer.content.filter((block) => block.type === "text").map((block) => block.text).join("\n");
}
