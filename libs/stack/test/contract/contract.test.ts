/** Checks and clients against both services, which are started once. */

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientCredentials, createHostedClient, createMonitorClient, PipelineError } from '@pipeline/client';
import { CHECK_SUITES, reportText, runSuites } from '@pipeline/contract-tests';
import { contractTarget, SCRATCH, SELECTION } from './target.ts';

const target = contractTarget();

/** The history has tracks without prompts and repos without snapshots. */
const NOT_IN_HISTORY = ['readTrackPrompt', 'readStrategySnapshot'];

test('both services pass every check that the data allows', async () => {
  const report = await runSuites(await target.open(), { ...SELECTION, suite: CHECK_SUITES, write: SCRATCH });
  expect(report.checks.some(({ outcome }) => outcome === 'failed') ? reportText(report) : '').toBe('');
  expect(report.checks.length).toBeGreaterThan(500);
  const skipped = report.checks.filter(({ outcome }) => outcome === 'skipped');
  expect([...new Set(skipped.map(({ endpoint }) => endpoint))]).toEqual(NOT_IN_HISTORY);
}, 900_000);

interface Found {
  repoOwner: string;
  issueNumber: number;
}

interface MonitorOperations {
  searchIssues: {
    query?: { limit?: number; repo?: string; state?: string };
    result: { items: Found[]; page: { total: number } };
  };
  transitionIssue: {
    params: { owner: string; repo: string; issue: number };
    body: { targetState: string; reason: string };
    result: unknown;
  };
}

interface HostedOperations {
  listIssues: { query: { repo: string; state?: string; limit?: number }; result: { items: { issueNumber: number }[] } };
  bootstrap: { result: { user: unknown } };
}

const monitor = (more: object = {}) =>
  createMonitorClient<MonitorOperations>({ url: target.urls.monitor, ...target.OPERATOR, ...more });

test('the client reads both services to the end of their lists', async () => {
  const { total } = (await monitor().searchIssues({ query: { limit: 1 } })).page;
  const seen = new Set<string>();
  for await (const { repoOwner, issueNumber } of monitor().all('searchIssues', { query: { limit: 7 } }))
    seen.add(`${repoOwner}#${issueNumber}`);
  expect(total).toBeGreaterThan(7);
  const url = target.urls.hosted;
  const hosted = createHostedClient<HostedOperations>({ url, token: clientCredentials({ url, ...target.client }) });
  const numbers: number[] = [];
  for await (const issue of hosted.all('listIssues', { query: { repo: SCRATCH, state: 'done', limit: 3 } }))
    numbers.push(issue.issueNumber);
  expect(numbers.length).toBeGreaterThan(3);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('an action arrives in the event stream of the client', async () => {
  const [found] = (await monitor().searchIssues({ query: { limit: 1, repo: SCRATCH, state: 'needs-clarification' } }))
    .items;
  const [owner = '', repo = ''] = SCRATCH.split('/');
  const params = { owner, repo, issue: found?.issueNumber ?? 0 };
  const abort = new AbortController();
  await monitor().transitionIssue({ params, body: { targetState: 'analyzing', reason: 'a test' } });
  // Replayed, or live: the stream may be opened before or after the event.
  const events = monitor().events({
    query: { repo: SCRATCH, types: 'state-transition' },
    lastEventId: 0,
    signal: abort.signal,
  });
  const { value } = await events.next();
  expect(value).toMatchObject({ type: 'state-transition', data: { issueNumber: params.issue, to: 'analyzing' } });
  abort.abort();
});

test('wrong credentials are an error with the code of the service', async () => {
  const refused = await monitor({ password: 'wrong' })
    .searchIssues()
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PipelineError);
  expect(refused).toMatchObject({ status: 401, code: 'AUTH_FAILED' });
});

/** Clients that @hey-api/openapi-ts generates from the OpenAPI documents, as a program would that knows nothing else. */
describe('generated clients', () => {
  const ROOT = join(import.meta.dirname, '../../../..');
  const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
  const GENERATOR = join(
    dirname(createRequire(import.meta.url).resolve('@hey-api/openapi-ts/package.json')),
    'bin/run.js',
  );

  const folder = mkdtempSync(join(tmpdir(), 'generated-client-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const PROGRAM = `
import { createClient as hostedClient } from './hosted/client/index.js';
import { bootstrap, listIssues } from './hosted/index.js';
import { createClient as monitorClient } from './monitor/client/index.js';
import { pauseIssue, resumeIssue, searchIssues } from './monitor/index.js';

const { HOSTED = '', TOKEN = '', MONITOR = '', LOGIN = '', REPO = '' } = process.env;
const hosted = hostedClient({ baseUrl: HOSTED, auth: TOKEN });
const monitor = monitorClient({ baseUrl: MONITOR, auth: ({ scheme }) => (scheme === 'basic' ? LOGIN : undefined) });
const own = await bootstrap({ client: hosted, throwOnError: true });
const listed = await listIssues({ client: hosted, query: { repo: REPO, limit: 3 }, throwOnError: true });
const found = await searchIssues({ client: monitor, query: { repo: REPO, limit: 100 }, throwOnError: true });
const issue = found.data.items.find(({ isPaused }) => !isPaused);
if (!issue) throw new Error('no issue');
const [owner = '', repo = ''] = issue.repo.split('/');
const path = { owner, repo, issue: issue.issueNumber };
const paused = await pauseIssue({ client: monitor, path, body: {}, throwOnError: true });
const resumed = await resumeIssue({ client: monitor, path, throwOnError: true });
const absent = await pauseIssue({ client: monitor, path: { ...path, issue: 2147483647 }, body: {} });
// @ts-expect-error a state that does not exist
const wrong = () => searchIssues({ client: monitor, query: { state: 'nowhere' } });
// @ts-expect-error a parameter is missing
const missing = () => listIssues({ client: hosted });
console.log(JSON.stringify({
  repos: own.data.repos.map(({ slug }) => slug),
  listed: listed.data.items.length,
  done: [paused.data.ok, resumed.data.ok],
  refused: [absent.response?.status, absent.error?.code],
  unused: [wrong, missing].length,
}));
`;

  const run = (args: string[]) =>
    spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: 120_000 });

  beforeAll(() => {
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    for (const surface of ['hosted', 'monitor']) {
      const document = join(ROOT, `docs/reference/openapi-${surface}.json`);
      const made = run([GENERATOR, '-i', document, '-o', surface, '-c', '@hey-api/client-fetch', '--no-log-file']);
      if (made.status !== 0) throw new Error(made.stderr + made.stdout);
    }
  }, 900_000);

  test('a program with generated clients compiles strictly and calls both services', async () => {
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
    const strict = ['--strict', '--target', 'es2022', '--module', 'nodenext', ...types];
    const compiled = run([TSC, ...strict, 'program.ts']);
    expect(compiled.stdout).toBe('');
    expect(compiled.status).toBe(0);
    const { username, password } = target.OPERATOR;
    const env = {
      HOSTED: target.urls.hosted,
      TOKEN: target.tokens.access,
      MONITOR: target.urls.monitor,
      LOGIN: `${username}:${password}`,
      REPO: SCRATCH,
    };
    // Not spawnSync: the services write to pipes that this process reads.
    const child = spawn(process.execPath, ['program.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    for await (const chunk of child.stdout) printed += chunk;
    expect(JSON.parse(printed)).toEqual({
      repos: expect.arrayContaining([SCRATCH]),
      listed: 3,
      done: [true, true],
      refused: [404, 'ISSUE_NOT_FOUND'],
      unused: 2,
    });
  }, 900_000);
});
