import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { mcpRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import type { ConnectionAuth, ConnectionIdentity } from '../auth/connection-tokens.ts';
import type { HostedContext } from '../context/context.ts';
import { isBatch, sanitizeMessage } from '../mcp/message.ts';
import { McpEndpoint } from '../mcp/server.ts';

interface McpInput {
  identity: ConnectionIdentity;
  request: IncomingMessage;
  body: Uint8Array | undefined;
  signal: AbortSignal;
}

/** The protocol's library speaks in web requests and responses; here they meet Node's. */
export function mcpHandlers(context: HostedContext): HandlersOf<typeof mcpRoutes, ConnectionAuth> {
  const endpoint = new McpEndpoint(context);
  const serve = async ({ identity, request, body, signal }: McpInput) => {
    const limits = await context.limits.mcp.take(identity.key);
    const text = body === undefined ? undefined : sanitizeMessage(new TextDecoder().decode(body));
    if (text !== undefined && isBatch(text)) return batchRefusal(limits);
    const message = new Request(`${context.address.origin}/api/mcp`, {
      method: request.method ?? 'GET',
      headers: headersOf(request),
      signal,
      ...(text !== undefined && { body: text }),
    });
    const response = await endpoint.fetch(message, identity);
    return {
      // The library chooses among those that are declared.
      status: response.status as never,
      headers: { ...Object.fromEntries(response.headers), ...limits, 'cache-control': 'no-store' },
      stream: (to: ServerResponse) => send(response, to),
    };
  };
  return { postMcp: serve, getMcp: serve, deleteMcp: serve };
}

/** JSON-RPC's own form of error: clients read no other one here. */
function batchRefusal(limits: Readonly<Record<string, string>>) {
  const error = { code: -32600, message: 'Batches are not supported: send one message per request' };
  const body = JSON.stringify({ jsonrpc: '2.0', error, id: null });
  return {
    status: 400 as never,
    headers: { ...limits, 'content-type': 'application/json', 'cache-control': 'no-store' },
    stream: (to: ServerResponse) => void to.end(body),
  };
}

/** Without the credentials: they were checked, and no tool needs them. */
function headersOf({ headers }: IncomingMessage): Headers {
  const { authorization: _, ...others } = headers;
  const entries = Object.entries(others).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one]));
  return new Headers(entries as [string, string][]);
}

async function send(response: Response, to: ServerResponse): Promise<void> {
  if (!response.body) {
    to.end();
    return;
  }
  await pipeline(Readable.fromWeb(response.body as ReadableStream), to);
}
