import { afterEach, expect, test } from '@jest/globals';
import type { ProblemKind } from '../src/property/judge.ts';
import { PropertySuite } from '../src/property/property-suite.ts';
import { curlOfCase } from '../src/report/curl-of-case.ts';
import { credentialMatrix } from '../src/target/credentials.ts';
import { Target } from '../src/target/target.ts';
import { type Lie, serve, surface, TOKEN } from './lying-server.ts';

let close: () => Promise<void>;
afterEach(() => close());

async function suiteOn(lie: Lie, options: { seed?: number; write?: boolean } = {}) {
  const server = await serve(lie);
  close = server.close;
  const target = new Target({ url: server.url, surface, timeoutMs: 5_000, longestRetrySeconds: 1 });
  const matrix = credentialMatrix({ workerToken: TOKEN, refusedTokens: ['wrk_at_revoked'] });
  const { seed = 7, write = true } = options;
  const common = { runs: 200, only: [], skip: new Map(), concurrency: 2, guesses: 5 };
  return { target, result: await new PropertySuite([{ target, matrix }], { ...common, seed, write }).run() };
}

test('reports nothing when the target keeps to its declarations', async () => {
  const { result } = await suiteOn((honest) => honest);
  expect(result.findings).toEqual([]);
  expect(result.tally.requests).toBeGreaterThanOrEqual(200);
  expect(Object.keys(result.tally.byExpectation).sort()).toEqual(['invalid', 'refused caller', 'valid']);
});

const lies: [string, ProblemKind, Lie][] = [
  ['an undeclared status', 'undeclared', (honest) => (honest.status === 200 ? { ...honest, status: 206 } : honest)],
  ['a missing field', 'undeclared', (honest) => (honest.status === 200 ? { ...honest, body: {} } : honest)],
  [
    'an undeclared field',
    'undeclared',
    (honest) => (honest.status === 200 ? { ...honest, body: { ...(honest.body as object), secret: 1 } } : honest),
  ],
  ['another content type', 'undeclared', (honest) => ({ ...honest, headers: { 'content-type': 'text/html' } })],
  [
    'a failure',
    'server-error',
    (honest, { url }) =>
      url?.includes('kind=small')
        ? { status: 500, body: { error: 'Internal server error', code: 'INTERNAL_ERROR', status: 500 } }
        : honest,
  ],
  [
    'an accepted invalid body',
    'invalid-accepted',
    (honest) =>
      (honest.body as { code?: string }).code === 'INVALID_BODY' ? { status: 200, body: { ok: true } } : honest,
  ],
  [
    'a refused valid request',
    'valid-refused',
    (honest, { method }) =>
      honest.status === 200 && method === 'GET'
        ? { status: 400, body: { error: 'no', code: 'INVALID_INPUT', status: 400 } }
        : honest,
  ],
  [
    'a refusal with another code',
    'wrong-refusal',
    (honest) =>
      (honest.body as { code?: string }).code === 'INVALID_JSON'
        ? { status: 400, body: { error: 'no', code: 'INVALID_INPUT', status: 400 } }
        : honest,
  ],
  [
    'a refusal that does not name the field',
    'wrong-refusal',
    (honest) =>
      (honest.body as { code?: string }).code === 'INVALID_BODY'
        ? { ...honest, body: { error: 'wrong', code: 'INVALID_BODY', status: 400 } }
        : honest,
  ],
  [
    'access for everybody',
    'access-granted',
    (honest, { method }) => (honest.status === 401 && method === 'GET' ? { status: 200, body: { items: [] } } : honest),
  ],
  [
    'no access for anybody',
    'access-denied',
    () => ({ status: 401, body: { error: 'no', code: 'AUTH_FAILED', status: 401 } }),
  ],
];

test.each(lies)('finds %s', async (_name, kind, lie) => {
  const { result } = await suiteOn(lie);
  expect(result.findings.map(({ problem }) => problem.kind)).toContain(kind);
  expect(new Set(result.findings.map(({ problem }) => problem.kind)).size).toBe(1);
});

test('shrinks a finding to a small request and prints it without secrets', async () => {
  const isLong = (body: string) => {
    try {
      return JSON.parse(body).name.length > 3;
    } catch {
      return false;
    }
  };
  const { target, result } = await suiteOn((honest, _request, body) =>
    honest.status === 200 && isLong(body)
      ? { status: 500, body: { error: 'Internal server error', code: 'INTERNAL_ERROR', status: 500 } }
      : honest,
  );
  const [finding] = result.findings;
  expect(JSON.parse(String(finding?.example.request.body))).toEqual({
    name: expect.stringMatching(/^.{2,4}$/su),
    size: 0,
  });
  const command = finding ? curlOfCase(target, finding.example) : '';
  expect(command).toContain('Bearer $WORKER_TOKEN');
  expect(command).not.toContain(TOKEN);
});

test('sends the same requests for the same seed, and others for another', async () => {
  const sentWith = async (seed: number) => {
    const sent: string[] = [];
    await suiteOn(
      (honest, { url, headers }, body) => {
        sent.push(`${url} ${headers.authorization ?? ''} ${body}`);
        return honest;
      },
      { seed },
    );
    await close();
    return sent.sort();
  };
  const first = await sentWith(3);
  expect(await sentWith(3)).toEqual(first);
  expect(await sentWith(4)).not.toEqual(first);
  ({ close } = await serve((honest) => honest));
});

test('sends nothing that changes state without --write', async () => {
  const methods = new Set<string | undefined>();
  const { result } = await suiteOn(
    (honest, { method }) => {
      methods.add(method);
      return honest;
    },
    { write: false },
  );
  expect([...methods]).toEqual(['GET']);
  expect(result.skipped).toEqual({ 'monitor makeThing': expect.stringContaining('--write') });
});
