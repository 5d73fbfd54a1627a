import { z } from 'zod';
import { rawBody, route } from '../wire/route.ts';

const KIB = 1024;

const mcp = {
  path: '/api/mcp',
  auth: 'connection',
  tags: ['MCP'],
} as const;

const Id = z.union([z.string(), z.int()]);
const version = z.literal('2.0').meta({ description: 'JSON-RPC version.' });

/** A single JSON-RPC 2.0 message. Batches (arrays) are rejected. */
const McpRequest = z
  .object({
    jsonrpc: version,
    id: Id.optional().meta({ description: 'Request id. Absent in a notification, which returns 202.' }),
    method: z
      .string()
      .meta({ description: 'Method name, such as initialize, tools/list or tools/call.', example: 'tools/list' }),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'McpRequest', description: 'One Model Context Protocol message.' });

export const McpResponse = z
  .object({
    jsonrpc: version,
    id: Id.nullable().optional(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .meta({ id: 'McpResponse', description: 'Result or error of a request.' });

const EventStream = z
  .string()
  .meta({ description: 'Server-sent events; the data of each event is one JSON-RPC message.' });

/** The response is a protocol message, or an event stream with one. */
const message = (description: string, content: Readonly<Record<string, z.ZodType>> = {}) =>
  ({ description, streamed: true, type: '*/*', content }) as const;
const withMessage = (description: string) => message(description, { 'application/json': McpResponse });

const McpHeaders = z.object({
  'mcp-protocol-version': z.string().optional().meta({
    description: 'Negotiated protocol revision. An unsupported revision returns 400.',
    example: '2025-06-18',
  }),
});

const postMcp = route({
  ...mcp,
  id: 'postMcp',
  method: 'post',
  summary: 'Send a Model Context Protocol message',
  description:
    'Streamable HTTP transport without sessions. Each POST carries one JSON-RPC 2.0 message of at most 256 KiB as application/json. The Accept header must include application/json and text/event-stream. Batches are rejected. All tools are read-only and limited to the access of the connection.',
  headers: McpHeaders,
  body: rawBody('application/json', 'A JSON-RPC 2.0 message of the Model Context Protocol.', McpRequest),
  bodyLimit: 256 * KIB,
  replies: {
    200: message('The response message, as JSON or as an event stream.', {
      'application/json': McpResponse,
      'text/event-stream': EventStream,
    }),
    202: message('Notification accepted.'),
    400: withMessage('The body is not a protocol message, or the protocol revision is not supported.'),
    404: withMessage('Unknown method.'),
    405: withMessage('HTTP method not allowed.'),
    406: withMessage('The Accept header must include application/json and text/event-stream.'),
    415: withMessage('The content type must be application/json.'),
  },
});

// The protocol requires these methods to exist. They always return 405 and are therefore not documented.
const NO_SESSION = 'Always returns 405: the server has no sessions.';

const getMcp = route({
  ...mcp,
  id: 'getMcp',
  method: 'get',
  summary: 'Open a Model Context Protocol session stream',
  description: NO_SESSION,
  replies: { 405: message('Sessions are not supported.') },
  undocumented: true,
});

const deleteMcp = route({
  ...mcp,
  id: 'deleteMcp',
  method: 'delete',
  summary: 'End a session of the Model Context Protocol',
  description: NO_SESSION,
  replies: { 405: message('Sessions are not supported.') },
  undocumented: true,
});

export const mcpRoutes = [postMcp, getMcp, deleteMcp] as const;

/** Offset of the next page of a tool's list; absent on the last page. */
export const NextOffset = z.int().optional().meta({ description: 'Offset of the next page. Absent on the last page.' });
