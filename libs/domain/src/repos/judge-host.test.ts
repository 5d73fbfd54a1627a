import { expect, test } from '@jest/globals';
import { APP_EVENTS, APP_PERMISSIONS } from '../vcs/app.ts';
import type { HostWebhook } from '../vcs/diagnostics.ts';
import { problemOfRepo, remedyForRepo, UNAVAILABLE_REASONS } from './availability.ts';
import {
  judgeCredentials,
  judgeInstallation,
  judgeLabels,
  judgeMergeMethod,
  judgeRepository,
  judgeRequiredChecks,
  judgeReviewGate,
  judgeUserPermission,
  judgeWebhook,
} from './judge-host.ts';

test('reports an app as ok, a token as a warning and rejected credentials as an error', () => {
  const at = null;
  expect(judgeCredentials({ kind: 'app', login: 'p[bot]', at })).toMatchObject({ status: 'ok' });
  expect(judgeCredentials({ kind: 'token', login: 'anna', at })).toMatchObject({ status: 'warning' });
  expect(judgeCredentials(null)).toMatchObject({ status: 'error', message: expect.stringContaining('Set a valid') });
});

test('names the missing permissions when an installation lacks some', () => {
  const { checks: _none, ...rest } = APP_PERMISSIONS;
  const active = (permissions: Record<string, string>) => judgeInstallation({ state: 'active', permissions });
  expect(active({ ...APP_PERMISSIONS, issues: 'admin' }).status).toBe('ok');
  expect(active({ ...rest, contents: 'read' })).toMatchObject({
    status: 'error',
    message: expect.stringContaining('lacks checks: write, contents: write.'),
  });
});

test.each(['missing', 'suspended'] as const)('the result is an error when the installation is %s', (state) => {
  const found = judgeInstallation({ state, permissions: APP_PERMISSIONS });
  expect(found).toMatchObject({ check: 'permissions', status: 'error' });
});

test.each(UNAVAILABLE_REASONS)('the result is an error with a remedy when the repository is %s', (reason) => {
  const { status, message } = judgeRepository('acme/shop', reason, []);
  expect(status).toBe('error');
  expect(message).toBe(`acme/shop ${problemOfRepo(reason)}. ${remedyForRepo(reason)}`);
});

test('names the former names of a repository', () => {
  expect(judgeRepository('acme/cart', null, [])).toMatchObject({
    status: 'ok',
    message: expect.not.stringMatching(/before/),
  });
  expect(judgeRepository('acme/cart', null, ['acme/shop'])).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('was acme/shop before'),
  });
});

test.each([
  ['admin', 'ok'],
  ['write', 'ok'],
  ['read', 'error'],
  ['none', 'error'],
] as const)('reports a user with the permission %s as %s', (permission, status) => {
  expect(judgeUserPermission('anna', permission).status).toBe(status);
});

const hook = (more: Partial<HostWebhook> = {}): HostWebhook => ({
  url: 'https://p.test/webhooks/github',
  active: true,
  events: ['*'],
  lastStatus: 202,
  ...more,
});

test.each([
  [[], 'warning', 'has no webhook'],
  [[hook()], 'ok', 'the last delivery got 202'],
  [[hook({ lastStatus: null, events: [...APP_EVENTS] })], 'ok', 'nothing was delivered yet'],
  [[hook({ active: false })], 'warning', 'not active'],
  [[hook({ lastStatus: 401 })], 'error', 'GITHUB_WEBHOOK_SECRET'],
  [[hook({ lastStatus: 502 })], 'error', 'got 502'],
  [[hook({ lastStatus: 0 })], 'error', 'got no response'],
  [[hook({ events: ['issues'] })], 'warning', 'check_run'],
  [[hook({ lastStatus: 404 }), hook()], 'ok', '202'],
] as const)('reports the webhooks %j as %s', (hooks, status, text) => {
  expect(judgeWebhook(hooks)).toMatchObject({ status, message: expect.stringContaining(text) });
});

test.each([
  {
    policy: 'required',
    required: ['ci'],
    seen: ['ci', 'lint'],
    status: 'ok',
    text: 'required and reported lately: ci',
  },
  { policy: 'required', required: ['ci', 'e2e'], seen: ['ci'], status: 'warning', text: 'requires e2e,' },
  { policy: 'all', required: [], seen: ['lint'], status: 'ok', text: 'reported lately: lint' },
  { policy: 'none', required: [], seen: [], status: 'ok', text: 'allows none' },
  { policy: 'required', required: [], seen: [], status: 'warning', text: '--checks none' },
] as const)(
  'the result is $status when the policy is $policy, $required are required and $seen were reported',
  ({ policy, required, seen, status, text }) => {
    const found = judgeRequiredChecks(policy, required, seen);
    expect(found).toMatchObject({ status, message: expect.stringContaining(text) });
  },
);

test('warns and names the method that is used when the host forbids the configured one', () => {
  expect(judgeMergeMethod('squash', { methods: ['merge', 'squash'] }).status).toBe('ok');
  const found = judgeMergeMethod('squash', { methods: ['rebase'] });
  expect(found).toMatchObject({ status: 'warning', message: expect.stringContaining('rebase is used') });
});

test('names the labels that people cannot select', () => {
  expect(judgeLabels(['SVC:enqueue', 'svc:urgent', 'bug']).status).toBe('ok');
  const found = judgeLabels(['svc:enqueue']);
  expect(found).toMatchObject({ status: 'warning', message: expect.stringMatching(/^svc:urgent cannot/) });
});

test.each([
  ['app', true, 'ok', 'from the app'],
  ['any', true, 'error', 'any token with write access can set it'],
  ['none', true, 'error', 'does not require svc/review'],
  ['none', false, 'warning', 'does not require svc/review'],
] as const)(
  'reports a branch with the review gate %s as an error when agents alone merge: %s',
  (gate, merges, status, text) => {
    const found = judgeReviewGate(gate, merges);
    expect(found).toMatchObject({ check: 'review-gate', status, message: expect.stringContaining(text) });
  },
);
