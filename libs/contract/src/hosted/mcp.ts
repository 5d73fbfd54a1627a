import { z } from 'zod';
import { rawBody, route } from '../route.ts';

const KIB = 1024;

const mcp = {
  path: '/api/mcp',
  auth: 'connection',
  tags: ['MCP'],
} as const;

/** The answer is a message of the protocol, or a stream with one. */
const message = (description: string) => ({ description, streamed: true, type: '*/*' }) as const;

const postMcp = route({
  ...mcp,
  id: 'postMcp',
  method: 'post',
  summary: 'Speak the Model Context Protocol',
  description:
    'Streamable HTTP, without sessions: each POST is one JSON-RPC 2.0 message; batches are refused. All tools are read-only and reach what the connection reaches.',
  body: rawBody('application/json', 'A JSON-RPC 2.0 message of the Model Context Protocol.'),
  bodyLimit: 256 * KIB,
  replies: {
    200: message('The answer, as JSON or as an event stream.'),
    202: message('A notification was taken.'),
    400: message('No message of the protocol, or of a revision that is not spoken here.'),
    404: message('No such method.'),
    405: message('A method that this endpoint does not have.'),
    406: message('Accept must name application/json and text/event-stream.'),
    415: message('The content type must be application/json.'),
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
