import type { AnyRoute } from '@pipeline/contract';
import type { z } from 'zod';
import { ABSENT, type SampleName } from './samples.ts';

/** The sample that fills a path parameter of a route. */
export function sampleOfParam({ path }: AnyRoute, param: string): SampleName | null {
  if (param === 'owner') return 'owner';
  if (param === 'repo') return 'name';
  if (param === 'issue' || param === 'number') return 'issue';
  if (param === 'runId') return 'runId';
  if (param === 'name' && path.startsWith('/api/tracks/')) return 'track';
  if (param === 'version') return path.startsWith('/api/strategy/') ? 'snapshot' : 'prompt';
  return param === 'id' && path.startsWith('/api/intelligence/') ? 'intelligence' : null;
}

/** The address template of a read with its required query parameters. @returns null when no sample fits. */
export function templateOf(route: AnyRoute): string | null {
  const params = [...route.path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = '']) => name);
  if (params.some((param) => sampleOfParam(route, param) === null)) return null;
  const path = route.path.replace(/\{(\w+)\*?\}/g, (_all, name: string) => `{${sampleOfParam(route, name)}}`);
  const query = requiredQuery(route).map((name) => queryPart(route, name));
  return query.includes(null) ? null : `${path}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

const requiredQuery = (route: AnyRoute): string[] =>
  Object.entries((route.query?.shape ?? {}) as Record<string, z.ZodType>)
    .filter(([, schema]) => !schema.safeParse(undefined).success)
    .map(([name]) => name);

function queryPart({ query }: AnyRoute, name: string): string | null {
  if (name === 'agent') return 'agent=developer';
  if (name === 'format') return 'format=json';
  if (name === 'owner') return 'owner={owner}';
  if (name === 'issue') return 'issue={issue}';
  if (name !== 'repo') return null;
  const takesSlug = query?.shape.repo?.safeParse(ABSENT.repo).success === true;
  return takesSlug ? 'repo={repo}' : 'repo={name}';
}

/** An address of a route whose parameters name nothing that exists. */
export function absentAddressOf({ path }: AnyRoute): string {
  return path.replace(/\{(\w+)\*?\}/g, (_all, param: string) => encodeURIComponent(absentValueOf(path, param)));
}

function absentValueOf(path: string, param: string): string {
  if (param === 'owner') return ABSENT.owner;
  if (param === 'repo') return ABSENT.name;
  if (param === 'name') return ABSENT.track;
  const isNumber = ['issue', 'number', 'runId', 'version'].includes(param) || path.startsWith('/api/projections/');
  return isNumber ? ABSENT.number : ABSENT.uuid;
}
