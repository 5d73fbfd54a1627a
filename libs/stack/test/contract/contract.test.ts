/** Checks and clients against both services, which are started once. */

import { expect, test } from '@jest/globals';
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
