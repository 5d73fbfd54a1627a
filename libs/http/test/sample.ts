import type { IncomingMessage } from 'node:http';
import { Writable } from 'node:stream';
import { checkedFetch, defineSurface, healthRoutes, pageQuery, rawBody, route } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import { createLogger, createMetrics } from '@pipeline/runtime';
import { z } from 'zod';
import { type AppOptions, createApp, type HandlersOf, listen, serviceHandlers } from '../src/index.ts';

const base = { auth: 'operator', tags: ['Things'], summary: 'A thing', description: 'For tests.' } as const;
const params = z.object({ id: z.string().regex(/^\d+$/, 'must be a number') });

const listThings = route({
  ...base,
  id: 'listThings',
  method: 'get',
  path: '/api/things',
  query: z.object({
    ...pageQuery({ limit: { default: 10, max: 50 }, notANumber: 'refuse' }),
    q: z.string().optional(),
  }),
  replies: {
    200: { description: 'Page', body: z.object({ limit: z.int(), offset: z.int(), q: z.string().nullable() }) },
  },
});
const thingOne = route({
  ...base,
  id: 'thingOne',
  method: 'get',
  path: '/api/things/one',
  needsStore: false,
  replies: { 200: { description: 'One', body: z.object({ n: z.literal(1) }) } },
});
const moveThing = route({
  ...base,
  id: 'moveThing',
  method: 'post',
  path: '/api/things/{id}/move',
  params,
  body: z.object({
    to: z.string().min(1),
    reason: z.string().refine((text) => text.trim() !== '', 'must not be blank'),
  }),
  bodyLimit: 1_000,
  replies: { 200: { description: 'Moved', body: z.object({ id: z.string(), to: z.string() }) } },
  errors: ['ISSUE_NOT_FOUND', { code: 'INVALID_ARGUMENT', status: 422 }],
  refusals: {
    params: { code: 'INVALID_ISSUE_NUMBER', message: 'Invalid issue number' },
    fields: { to: { code: 'INVALID_STATE' } },
  },
  failure: { code: 'INTERNAL_ERROR', message: 'Failed to move' },
});
const optional = route({
  ...base,
  id: 'optional',
  method: 'post',
  path: '/api/optional',
  body: z.object({ by: z.string().default('operator') }),
  bodyOptional: true,
  replies: { 200: { description: 'Who', body: z.object({ by: z.string() }) } },
});
const raw = route({
  ...base,
  auth: 'signature',
  id: 'raw',
  method: 'post',
  path: '/hooks',
  body: rawBody('application/json', 'Bytes'),
  replies: { 200: { description: 'Length', body: z.object({ bytes: z.int() }) } },
  errors: ['INVALID_SIGNATURE'],
});
const odd = route({
  ...base,
  id: 'odd',
  method: 'get',
  path: '/odd/{what*}',
  params: z.object({ what: z.string() }),
  replies: {
    200: { description: 'Page', type: 'text/html', body: z.string() },
    202: { description: 'Stored text', body: z.object({ stored: z.boolean() }) },
    203: { description: 'Stream', type: 'text/event-stream', streamed: true },
    204: { description: 'Nothing' },
  },
});

const routes = [...healthRoutes, listThings, thingOne, moveThing, optional, raw, odd] as const;

export const surface = defineSurface({
  name: 'monitor',
  title: 'Sample',
  version: '1.0.0',
  description: 'For tests.',
  tags: [{ name: 'Things', description: 'Things.' }],
  routes,
  fallbacks: [
    {
      prefix: '/api/timeline/',
      methods: ['get'],
      refusal: { code: 'INVALID_INPUT', message: 'Expected /api/timeline/:owner/:repo/:issue' },
    },
  ],
  requireJsonType: false,
  hostCheck: true,
  unknownPathAuth: ['operator'],
});

/** Basic `good` passes; nothing asks; anything else is wrong. */
const authenticators = {
  operator: ({ headers }: IncomingMessage) => {
    if (!headers.authorization) throw new AppError('AUTH_REQUIRED', '');
    if (headers.authorization !== 'Basic good') throw new AppError('AUTH_FAILED', '');
    return { key: 'operator:test', name: 'test' };
  },
};

const handlers: HandlersOf<typeof routes, typeof authenticators> = {
  ...serviceHandlers({
    surface,
    now: () => new Date(),
    readiness: () => ({
      status: 'not-ready',
      store: 'unreachable',
      poll: 'off',
      outbox: 'off',
      stream: 'off',
      loops: [],
    }),
  }),
  listThings: ({ query: { limit, offset, q } }) => ({ status: 200, body: { limit, offset, q: q ?? null } }),
  thingOne: () => ({ status: 200, body: { n: 1 } }),
  moveThing: ({ params: { id }, body: { to } }) => {
    if (id === '404') throw new AppError('ISSUE_NOT_FOUND', 'Issue not found: a/b#404', { detail: { plan: 1 } });
    if (id === '422') throw new AppError('INVALID_ARGUMENT', 'finding has no issue number');
    if (id === '410') throw new AppError('TASK_CANCELLED', '');
    if (id === '500') throw new Error('password is hunter2');
    return { status: 200, body: { id, to } };
  },
  optional: ({ body: { by }, identity }) => ({ status: 200, body: { by: `${by} ${identity.name}` } }),
  raw: ({ body }) => ({ status: 200, body: { bytes: body.length } }),
  odd: ({ params: { what } }) => {
    if (what === 'stored') return { status: 202, json: '{"stored":true}' };
    if (what === 'nothing') return { status: 204 };
    if (what === 'leak') return { status: 202, body: { stored: true, leak: 1 } as { stored: boolean } };
    if (what === 'half') {
      return {
        status: 203,
        stream: (response) => {
          response.write('data: 1\n\n');
          throw new Error('broke off');
        },
      };
    }
    return { status: 200, body: `<p>${what}</p>`, headers: { 'x-own': 'yes' } };
  },
};

type Options = Omit<Partial<AppOptions<typeof routes, typeof authenticators>>, 'handlers'> & {
  /** Handlers in place of some of the sample's. */
  handlers?: object;
};

/** The sample served on a free port, its log kept as objects. */
export async function serveSample(options: Options = {}) {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  const { registry } = createMetrics();
  const log = createLogger({ process: 'sample', level: 'debug', stream });
  const app = createApp({
    surface,
    authenticators,
    log,
    registry,
    storeReady: () => true,
    answerCheck: 'throw',
    ...options,
    handlers: { ...handlers, ...options.handlers },
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  const checked = checkedFetch(surface);
  const call = (path: string, { auth = 'Basic good', ...init }: RequestInit & { auth?: string } = {}) =>
    checked.fetch(server.url + path, { ...init, headers: { ...(auth && { authorization: auth }), ...init.headers } });
  const lines = () => chunks.map((chunk) => JSON.parse(chunk) as Record<string, unknown>);
  return { ...server, call, lines, registry, app, surface };
}
