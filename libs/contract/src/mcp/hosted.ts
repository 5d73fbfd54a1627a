import { z } from 'zod';
import { rawBody, route } from '../wire/route.ts';

const KIB = 1024;

const mcp = {
  path: '/api/mcp',
  auth: 'connection',
  tags: ['MCP'],
} as const;

const Id = z.union([z.string(), z.int()]);
const version = z.literal('2.0').meta({ description: 'Version of JSON-RPC.' });

/** A JSON-RPC 2.0 message. Batches (arrays) are no such message. */
export const McpRequest = z
  .object({
    jsonrpc: version,
    id: Id.optional().meta({ description: 'Absent in a notification, which is answered with 202.' }),
    method: z.string().meta({ description: 'Such as initialize, tools/list or tools/call.', example: 'tools/list' }),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'McpRequest', description: 'One message of the Model Context Protocol.' });

export const McpResponse = z
  .object({
    jsonrpc: version,
    id: Id.nullable().optional(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .meta({ id: 'McpResponse', description: 'The result of a message, or its error.' });

const EventStream = z.string().meta({ description: 'Server-sent events, each with one message as its data.' });

/** The answer is a message of the protocol, or a stream with one. */
const message = (description: string, content: Readonly<Record<string, z.ZodType>> = {}) =>
  ({ description, streamed: true, type: '*/*', content }) as const;
const withMessage = (description: string) => message(description, { 'application/json': McpResponse });

const McpHeaders = z.object({
  'mcp-protocol-version': z.string().optional().meta({
    description: 'Revision of the protocol that was negotiated; one that is not supported is refused with 400.',
    example: '2025-06-18',
  }),
});

const postMcp = route({
  ...mcp,
  id: 'postMcp',
  method: 'post',
  summary: 'Speak the Model Context Protocol',
  description:
    'Streamable HTTP, without sessions: each POST is one JSON-RPC 2.0 message, sent as application/json with an Accept that names application/json and text/event-stream; batches are refused. All tools are read-only and reach what the connection reaches.',
  headers: McpHeaders,
  body: rawBody('application/json', 'A JSON-RPC 2.0 message of the Model Context Protocol.', McpRequest),
  bodyLimit: 256 * KIB,
  replies: {
    200: message('The answer, as JSON or as an event stream.', {
      'application/json': McpResponse,
      'text/event-stream': EventStream,
    }),
    202: message('A notification was taken.'),
    400: withMessage('No message of the protocol, or of a revision that is not spoken here.'),
    404: withMessage('No such method.'),
    405: withMessage('A method that this endpoint does not have.'),
    406: withMessage('Accept must name application/json and text/event-stream.'),
    415: withMessage('The content type must be application/json.'),
  },
});

// Part of the protocol, served for its clients; an operation that always refuses is no news to readers of the document.
const NO_SESSION = 'There are no sessions: nothing to listen to and nothing to end.';

const getMcp = route({
  ...mcp,
  id: 'getMcp',
  method: 'get',
  summary: 'Listen to a session of the Model Context Protocol',
  description: NO_SESSION,
  replies: { 405: message('There is no session to listen to.') },
  undocumented: true,
});

const deleteMcp = route({
  ...mcp,
  id: 'deleteMcp',
  method: 'delete',
  summary: 'End a session of the Model Context Protocol',
  description: NO_SESSION,
  replies: { 405: message('There is no session to end.') },
  undocumented: true,
});

export const mcpRoutes = [postMcp, getMcp, deleteMcp] as const;

/** Where the next page of a tool's list begins; absent on the last one. */
export const NextOffset = z
  .int()
  .optional()
  .meta({ description: 'Where the next page begins; absent on the last one.' });
