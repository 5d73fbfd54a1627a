import type { AnyRoute, Surface } from '@pipeline/contract';
import type { Credential } from '../target/credentials.ts';
import type { Check } from './check.ts';
import { must, mustEqual } from './outcome.ts';
import { type Answer, NO_CREDENTIAL, type Probe } from './probe.ts';
import { absentAddressOf } from './request-of.ts';

/** Kinds of credentials that a request carries in a header. Signatures are checked by deliveries. */
const isGuarded = ({ auth, undocumented }: AnyRoute): boolean =>
  !undocumented && (auth === 'operator' || auth === 'connection' || auth === 'worker');

/**
 * Guarded endpoints refuse callers before anything else. Endpoints that write are addressed by names of nothing, and
 * those that need no name are left out: a target without authentication would act.
 */
export const authenticationChecks = ({ routes, name }: Surface): Check[] => {
  const guarded = routes.filter((route) => isGuarded(route) && isHarmless(route));
  return [
    ...guarded.flatMap((route) => [refusesAnonymous(route), refusesWrong(route, name)]),
    ...routes
      .filter(({ auth, method, path }) => auth === 'none' && method === 'get' && EXEMPT.includes(path))
      .map(open),
  ];
};

/** Addresses that are public. */
const EXEMPT = ['/health', '/ready', '/prometheus', '/api/openapi.json', '/api/auth/session', '/'];

/** A name of nothing, or a body that cannot be read, keeps an endpoint from acting. */
const isHarmless = ({ method, path, body, bodyOptional }: AnyRoute): boolean =>
  method === 'get' || path.includes('{') || (body !== undefined && !bodyOptional);

async function sendAs(probe: Probe, route: AnyRoute, credential: Credential): Promise<Answer> {
  const body = route.body ? { body: '{' } : {};
  return probe.send(absentAddressOf(route), { method: route.method.toUpperCase(), credential, ...body });
}

const refusesAnonymous = (route: AnyRoute): Check => ({
  suite: 'authentication',
  endpoint: route.id,
  name: 'refuses a request without credentials before it reads anything else',
  async run(probe) {
    const answer = await sendAs(probe, route, NO_CREDENTIAL);
    mustEqual('status', answer.status, 401);
    mustEqual('code', answer.json<{ code: string }>().code, 'AUTH_REQUIRED');
    challenge(probe, answer);
  },
});

const refusesWrong = (route: AnyRoute, surface: string): Check => ({
  suite: 'authentication',
  endpoint: route.id,
  name: 'refuses malformed, unknown and foreign credentials',
  async run(probe) {
    // A wrong password counts against the address that sends it.
    const wrong = probe.tested.matrix.bad(route.auth).filter(({ isGuess, name }) => !isGuess && name !== 'none');
    must(wrong.length > 0, `no credentials to refuse on ${surface}`);
    for (const credential of wrong) {
      const answer = await sendAs(probe, route, credential);
      must([401, 403].includes(answer.status), `status is ${answer.status} for credential "${credential.name}"`);
      challenge(probe, answer);
    }
  },
});

/** Basic challenges make browsers open their own prompt. */
function challenge(probe: Probe, { headers, status }: Answer): void {
  const value = headers.get('www-authenticate');
  if (probe.tested.target.surface.name === 'monitor') mustEqual('www-authenticate', value, null);
  else if (status === 401 && value !== null) must(/^Bearer\b/.test(value), `www-authenticate is ${value}`);
}

const open = (route: AnyRoute): Check => ({
  suite: 'authentication',
  endpoint: route.id,
  name: 'answers everybody',
  async run(probe) {
    const { status } = await probe.send(route.path, { credential: NO_CREDENTIAL });
    must([200, 503].includes(status), `status is ${status}`);
  },
});
