import type { AnyRoute } from '@pipeline/contract';
import type { Credential } from '../target/credentials.ts';
import { isPlainRead, type PlannedRequest } from '../target/planned-request.ts';
import type { Target } from '../target/target.ts';
import type { Vocabulary } from './vocabulary.ts';

export type GoodCredentials = (route: AnyRoute) => readonly Credential[];

/** A request without parameters but those given. */
export const plainRequest = (route: AnyRoute, more: Partial<PlannedRequest> = {}): PlannedRequest => ({
  route,
  params: {},
  query: [],
  headers: {},
  ...more,
});

/** Returns whether a read needs no parameter but a repo. */
const wantsRepo = (route: AnyRoute): boolean =>
  route.method === 'get' &&
  !route.path.includes('{') &&
  !isPlainRead(route) &&
  route.query?.safeParse({ repo: 'acme/shop' }).success === true;

/** Reads every list that needs no parameter or a repo alone, so that requests can name what is there. */
export async function learnFromReads(target: Target, goods: GoodCredentials, into: Vocabulary): Promise<void> {
  const { routes } = target.surface;
  for (const route of routes.filter(isPlainRead)) await learn(target, goods, plainRequest(route), into);
  const slugs = into.known('', 'slug').concat(into.known('', 'repo'));
  const repo = slugs.map(String).find((text) => /^[^/]+\/[^/]+$/.test(text));
  if (repo === undefined) return;
  for (const route of routes.filter(wantsRepo))
    await learn(target, goods, plainRequest(route, { query: [['repo', repo]] }), into);
}

async function learn(target: Target, goods: GoodCredentials, request: PlannedRequest, into: Vocabulary): Promise<void> {
  const [credential] = goods(request.route);
  if (!credential) return;
  const outcome = await target.send(request, credential);
  if (outcome.ok && outcome.answer.status === 200) into.learn(request.route.path, outcome.answer.body);
}
