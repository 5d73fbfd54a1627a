/** The heavy checks against both services, which are started once. Generated requests come last: they change anything. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hostedSurface, monitorSurface } from '@pipeline/contract';
import { CHECK_SUITES, problemCount, reportText, runSuites } from '@pipeline/contract-tests';
import { mutantKinds } from './mutants.ts';
import { MutatingProxy } from './mutating-proxy.ts';
import { contractTarget, SCRATCH, SELECTION } from './target.ts';

const target = contractTarget();

const { urls } = target;
const proxies = [
  new MutatingProxy(hostedSurface, () => urls.hosted),
  new MutatingProxy(monitorSurface, () => urls.monitor),
] as const;
beforeAll(() => Promise.all(proxies.map((proxy) => proxy.listen())));
afterAll(() => {
  for (const proxy of proxies) proxy.close();
});

/** An endless stream does not pass the proxy; the checks of streams have tests of their own. */
const SUITES = CHECK_SUITES.filter((suite) => suite !== 'stream');

test('the checks find every target that breaks the contract in one place', async () => {
  const [hosted, monitor] = proxies;
  const surfaces = await target.open({ hosted: hosted.url, monitor: monitor.url }, { timeoutMs: 2_000 });
  const { username, password } = target.OPERATOR;
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const kinds = mutantKinds({
    basic,
    bearer: `Bearer ${target.tokens.access}`,
    worker: `Bearer ${target.tokens.worker}`,
    password: target.login.password,
  });
  const mutants = Object.values(kinds).flat();
  const survived: string[] = [];
  for (const mutant of mutants) {
    hosted.mutant = mutant;
    monitor.mutant = mutant;
    const report = await runSuites(surfaces, { ...SELECTION, suite: SUITES, write: SCRATCH, only: mutant.endpoints });
    if (problemCount(report) === 0) survived.push(mutant.name);
  }
  process.stderr.write(`mutants: ${mutants.length - survived.length} killed, ${survived.length} survived\n`);
  expect(survived).toEqual([]);
  expect(mutants.length).toBeGreaterThanOrEqual(60);
}, 1_200_000);

/** The same requests each time. A larger run on a running stack is described in libs/contract-tests/README.md. */
test('both services answer generated requests as they declare', async () => {
  const report = await runSuites(await target.open(), { ...SELECTION, suite: ['property'], write: true });
  expect(report.property?.findings.length === 0 ? '' : reportText(report)).toBe('');
  expect(report.property?.tally.requests).toBeGreaterThanOrEqual(SELECTION.runs);
  expect(report.property?.skipped).toEqual({});
}, 900_000);
