import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { defineSurface, route } from '@pipeline/contract';
import { z } from 'zod';

/** A surface of two endpoints, for targets that keep its contract and for others. */
export const surface = defineSurface({
  name: 'monitor',
  title: 'A shop',
  version: '1.0.0',
  description: 'Of a test.',
  tags: [{ name: 'Shop', description: 'All of it.' }],
  routes: [
    route({
      id: 'listThings',
      method: 'get',
      path: '/api/things',
      summary: 'List',
      description: 'All.',
      tags: ['Shop'],
      auth: 'worker',
      query: z.object({ kind: z.enum(['big', 'small']).optional() }),
      replies: { 200: { description: 'Them.', body: z.object({ items: z.array(z.object({ id: z.int() })) }) } },
    }),
    route({
      id: 'makeThing',
      method: 'post',
      path: '/api/things',
      summary: 'Make',
      description: 'One.',
      tags: ['Shop'],
      auth: 'worker',
      body: z.object({ name: z.string().min(1).max(20), size: z.int().min(0).max(9) }),
      replies: { 200: { description: 'Made.', body: z.object({ ok: z.literal(true) }) } },
    }),
  ],
  fallbacks: [],
  requireJsonType: false,
  hostCheck: false,
  unknownPathAuth: ['worker'],
});

export const TOKEN = 'wrk_at_right';

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

const error = (status: number, code: string, message: string): Answer => ({
  status,
  body: { error: message, code, status },
});

/** Answers as the declarations want. */
export function truth({ method, url = '', headers }: IncomingMessage, body: string): Answer {
  if (headers.authorization === undefined) return error(401, 'AUTH_REQUIRED', 'Authentication required');
  if (headers.authorization !== `Bearer ${TOKEN}`) return error(401, 'AUTH_FAILED', 'Authentication failed');
  const [list, make] = surface.routes;
  if (method === 'GET') {
    const kinds = new URLSearchParams(url.split('?')[1] ?? '').getAll('kind');
    const query = kinds.length === 0 ? {} : { kind: kinds.length === 1 ? kinds[0] : kinds };
    if (!list.query?.safeParse(query).success) return error(400, 'INVALID_INPUT', 'kind: Invalid option');
    return { status: 200, body: { items: [{ id: 1 }] } };
  }
  if (body.length > 256 * 1024) return error(413, 'PAYLOAD_TOO_LARGE', 'Request body too large');
  return read(body, (value) => {
    const parsed = (make.body as z.ZodType).safeParse(value);
    const [issue] = parsed.error?.issues ?? [];
    if (issue) return error(400, 'INVALID_BODY', `${issue.path.join('.')}: ${issue.message}`);
    if (/\\u0000|\\ud800/.test(body)) return error(400, 'INVALID_BODY', 'name: must hold no NUL');
    return { status: 200, body: { ok: true } };
  });
}

function read(body: string, then: (value: unknown) => Answer): Answer {
  try {
    return then(JSON.parse(body));
  } catch {
    return error(400, 'INVALID_JSON', 'Invalid JSON body');
  }
}

export type Lie = (honest: Answer, request: IncomingMessage, body: string) => Answer;

/** Serves the surface on a free port, each answer changed by the lie. */
export async function serve(lie: Lie): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => void answer(request, response, lie)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Text that is no UTF-8 is no JSON either. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return '?';
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, lie: Lie): Promise<void> {
  const body = decoded(await buffer(request));
  const { status, body: given, headers = {} } = lie(truth(request, body), request, body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(given));
}
