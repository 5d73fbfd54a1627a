import { expect, test } from '@jest/globals';
import { type AnyRoute, hostedSurface, isRawBody, monitorSurface, type Surface } from '@pipeline/contract';
import fc from 'fast-check';
import { validRequests } from '../src/property/valid-requests.ts';
import { woundedRequests } from '../src/property/wounded-requests.ts';
import { addressOf } from '../src/target/planned-request.ts';

const surfaces: readonly Surface[] = [hostedSurface, monitorSurface];
const routes = surfaces.flatMap((surface) =>
  surface.routes.map((route): [string, Surface, AnyRoute] => [`${surface.name} ${route.id}`, surface, route]),
);

/** Returns whether a server accepts the request, by the declarations of the route alone. */
function isAccepted(route: AnyRoute, address: string, body: unknown): boolean {
  const { pathname, searchParams } = new URL(address, 'http://host');
  const template = route.path.split('/');
  const segments = pathname.split('/');
  const params = template.flatMap((part, index) => {
    const name = /^\{(\w+)\*?\}$/.exec(part)?.[1];
    if (name === undefined) return [];
    const raw = part.endsWith('*}') ? segments.slice(index) : [segments[index] ?? ''];
    return [[name, raw.map(decodeURIComponent).join('/')]];
  });
  const query = [...new Set(searchParams.keys())].map((name) => {
    const all = searchParams.getAll(name);
    return [name, all.length > 1 ? all : all[0]];
  });
  const parts = [
    route.params?.safeParse(Object.fromEntries(params)),
    route.query?.safeParse(Object.fromEntries(query)),
    route.body && !isRawBody(route.body) ? route.body.safeParse(body) : undefined,
  ];
  return parts.every((part) => part?.success !== false);
}

const bodyOf = (body: unknown): unknown => {
  try {
    return body === undefined ? {} : JSON.parse(String(body));
  } catch {
    return undefined;
  }
};

const made = new Map<AnyRoute, ReturnType<typeof validRequests>>();

/** Requests that the route accepts; to make their generator takes longer than to draw from it. */
function validOf(surface: Surface, route: AnyRoute): ReturnType<typeof validRequests> {
  const valid = made.get(route) ?? validRequests(surface, route, () => []);
  made.set(route, valid);
  return valid;
}

test.each(routes)('%s: every valid request meets the declared schemas', (_name, surface, route) => {
  fc.assert(
    fc.property(validOf(surface, route), (request) => {
      expect(isAccepted(route, addressOf(request), bodyOf(request.body))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

const OUTSIDE_THE_SCHEMAS = ['content type', 'size'];

test.each(routes)('%s: every wounded request breaks the declared schemas', (_name, surface, route) => {
  const wounded = woundedRequests(surface, route, validOf(surface, route));
  if (!wounded) return expect(isRawBody(route.body) || (!route.params && !route.query) || true).toBe(true);
  fc.assert(
    fc.property(wounded, ({ request, expectation }) => {
      if (expectation.kind !== 'invalid') throw new Error(`expected ${expectation.kind}`);
      expect(expectation.refusals).not.toEqual([]);
      if (OUTSIDE_THE_SCHEMAS.includes(expectation.where)) return;
      const isUnstorable = /\\u0000|\\ud800/.test(String(request.body));
      expect(isUnstorable || !isAccepted(route, addressOf(request), bodyOf(request.body))).toBe(true);
    }),
    { numRuns: 50 },
  );
});
