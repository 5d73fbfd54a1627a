/** Numbers in paths and queries: none is too large for an answer that is declared. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AnyRoute, fillPath, monitorSurface } from '@pipeline/contract';
import { built } from '@pipeline/domain/zod';
import { testDatabase } from '@pipeline/testing';
import { z } from 'zod';
import { admit, makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
let call: Call;
let close: () => Promise<void>;

beforeAll(async () => {
  const bench = await makeBench(database.store, 'acme/shop');
  await admit(bench, 7);
  ({ call, close } = await serveConnected({ engine: bench.engine }));
});
afterAll(() => close());

const LARGE = ['2147483647', '2147483648', '-2147483649', '9007199254740993', '9'.repeat(20), '9'.repeat(400), '1e400'];

/** Parameters that may hold a number, by their schema's examples and patterns. */
function numericNames(schema: z.ZodObject | undefined): string[] {
  if (!schema) return [];
  const { properties = {} } = z.toJSONSchema(built(schema), { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).flatMap(([name, property]) => {
    const { type, example } = property as { type?: string; example?: unknown };
    return type === 'integer' || type === 'number' || /^-?\d+$/.test(String(example)) ? [name] : [];
  });
}

const examplesOf = (schema: z.ZodObject | undefined): Record<string, string> => {
  if (!schema) return {};
  const { properties = {} } = z.toJSONSchema(built(schema), { io: 'input', unrepresentable: 'any' });
  const known: Record<string, string> = { owner: 'acme', repo: 'shop', issue: '7' };
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      name,
      known[name] ?? String((property as { example?: unknown }).example ?? 'x'),
    ]),
  );
};

/** Addresses of a route with a large number in each place that takes one. */
function addressesOf({ path, params, query }: AnyRoute): string[] {
  const given = examplesOf(params);
  const inPath = numericNames(params).flatMap((name) =>
    LARGE.map((value) => fillPath(path, { ...given, [name]: value })),
  );
  const inQuery = numericNames(query).flatMap((name) =>
    LARGE.map((value) => `${fillPath(path, given)}?${new URLSearchParams({ [name]: value })}`),
  );
  return [...inPath, ...inQuery];
}

const routes = monitorSurface.routes as readonly AnyRoute[];
const cases = routes
  .filter(({ id }) => id !== 'streamEvents')
  .flatMap((route) => {
    const addresses = addressesOf(route);
    return addresses.length === 0 ? [] : [[route.id, route.method.toUpperCase(), addresses] as const];
  });

test('numbers of paths and queries are found', () => {
  expect(cases.length).toBeGreaterThan(15);
  expect(cases.map(([id]) => id)).toEqual(
    expect.arrayContaining(['runArtefacts', 'readStrategySnapshot', 'listPipelineEvents', 'retryProjection']),
  );
});

test.each(cases)('%s answers as declared when a number is large', async (_id, method, addresses) => {
  for (const address of addresses) {
    const { status, text } = await call(method, address, method === 'GET' ? {} : { body: {} });
    expect([address.slice(0, 120), status, status < 500 || status === 503, text.slice(0, 200)]).toEqual([
      address.slice(0, 120),
      status,
      true,
      text.slice(0, 200),
    ]);
  }
});
