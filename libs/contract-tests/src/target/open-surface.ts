import { type AnyRoute, login, logout, type Surface } from '@pipeline/contract';
import { type Credential, credentialMatrix, type GivenSecrets } from './credentials.ts';
import { isPlainRead } from './planned-request.ts';
import { Target } from './target.ts';
import { TargetError } from './target-error.ts';

interface OpenOptions {
  url: string;
  surface: Surface;
  given: GivenSecrets;
  webhookSecret?: string | undefined;
  timeoutMs: number;
  longestRetrySeconds: number;
}

const NOBODY: Credential = { name: 'none', headers: {}, shown: {} };

/**
 * Makes sure that the target answers and takes the given credentials, and opens sessions where the surface has them.
 * @throws TargetError when it does not.
 */
export async function openSurface({ surface, given, ...options }: OpenOptions) {
  const target = new Target({ surface, ...options });
  const sessions = surface.name === 'monitor' && given.operator ? await openSessions(target, given.operator) : {};
  const matrix = credentialMatrix(given, sessions);
  for (const probe of probesOf(surface)) {
    for (const credential of matrix.good(probe.auth)) await expectOk(target, probe, credential);
  }
  return {
    target,
    matrix,
    ...(given.client && { client: given.client }),
    ...(given.login && { login: given.login }),
  };
}

/** One read for each kind of credentials, without parameters. */
function probesOf(surface: Surface): AnyRoute[] {
  const reads = surface.routes.filter(isPlainRead);
  const kinds = ['none', 'connection', 'operator'] as const;
  return kinds.flatMap(
    (kind) => reads.find(({ auth, needsStore }) => auth === kind && (kind === 'none' || needsStore)) ?? [],
  );
}

async function expectOk(target: Target, route: AnyRoute, credential: Credential): Promise<void> {
  const outcome = await target.send({ route, params: {}, query: [], headers: {} }, credential);
  const where = `${target.url}${route.path} with credential "${credential.name}"`;
  if (!outcome.ok) throw new TargetError(`${where}: ${outcome.error}`);
  const { status, body } = outcome.answer;
  if (status !== 200) throw new TargetError(`${where}: ${status} ${body.slice(0, 200)}`);
}

/** Two sessions of the monitor: one to use, and one that was ended and must be refused. */
async function openSessions(target: Target, operator: { username: string; password: string }) {
  const open = await logIn(target, operator);
  const ended = await logIn(target, operator);
  // A monitor without authentication sets no cookie.
  if (open === undefined || ended === undefined) return {};
  const cookie = { ...NOBODY, headers: { cookie: `SVC_SESSION=${ended}` } };
  await target.send({ route: logout, params: {}, query: [], headers: {} }, cookie);
  return { open, ended };
}

async function logIn(target: Target, operator: { username: string; password: string }): Promise<string | undefined> {
  const request = { route: login, params: {}, query: [], headers: {}, body: JSON.stringify(operator) };
  const outcome = await target.send(request, NOBODY);
  if (!outcome.ok) throw new TargetError(`${target.url}: ${outcome.error}`);
  if (outcome.answer.status !== 200)
    throw new TargetError(`${target.url}: the monitor refuses the operator's password`);
  return /SVC_SESSION=([^;]*)/.exec(outcome.answer.headers.get('set-cookie') ?? '')?.[1];
}
