import { expect, test } from '@jest/globals';
import { route } from '@pipeline/contract';
import { z } from 'zod';
import type { HandlersOf } from '../src/index.ts';

const get = route({
  id: 'get',
  method: 'get',
  path: '/x/{id}',
  summary: 's',
  description: 'd',
  tags: ['t'],
  auth: 'worker',
  params: z.object({ id: z.string() }),
  replies: { 200: { description: 'd', body: z.object({ n: z.number() }) }, 204: { description: 'd' } },
});
type Auth = { worker: () => { key: string; tenantId: number } };
type Handlers = HandlersOf<readonly [typeof get], Auth>;

// Held by the compiler: each directive fails the type check when its line begins to compile.
const cases: Handlers[] = [
  { get: ({ identity }) => ({ status: 200, body: { n: identity.tenantId } }) },
  { get: () => ({ status: 204 }) },
  // @ts-expect-error a handler is missing
  {},
  // @ts-expect-error the status is not declared
  { get: () => ({ status: 201, body: { n: 1 } }) },
  // @ts-expect-error the body has another type
  { get: () => ({ status: 200, body: { n: '1' } }) },
  // @ts-expect-error the answer declares no body
  { get: () => ({ status: 204, body: { n: 1 } }) },
  {
    // @ts-expect-error there is no such parameter
    get: ({ params }) => ({ status: 200, body: { n: Number(params.other) } }),
  },
];

test('a handler that the declaration does not allow does not compile', () => {
  expect(cases).toHaveLength(7);
});
