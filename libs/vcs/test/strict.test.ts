import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProjectionAction } from '@pipeline/domain';
import {
  ANNA,
  BOT,
  ciToken,
  createSandboxEnvironment,
  type Exchange,
  openIssue,
  postRegistration,
  REPO,
  recordingFetch,
  type SandboxEnvironment,
  shopApp,
  submitForm,
} from '@pipeline/testing/sandbox';
import { appRegistrationForm } from '../src/github/index.ts';
import { createStrictCheck, describedOperations } from './strict.ts';

let environment: SandboxEnvironment;
let check: ReturnType<typeof createStrictCheck>;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
  check = createStrictCheck();
});
afterAll(() => environment.end());
const violations = () => environment.exchanges.flatMap((exchange) => check.violations(exchange));

describe('the adapter and the sandbox, held to the host’s own description', () => {
  test('whatever the adapter sends and the sandbox answers has no violation', async () => {
    const { host } = environment;
    const issue = await openIssue(environment);
    const child = await openIssue(environment);
    await host.login();
    await host.getRepo(REPO);
    await host.permissionOf(REPO, 'anna');
    await host.pushProtectionOf(REPO, 'main');
    const head = await environment.push('strict', 'strict.txt', 'x\n');
    expect(await host.pushersOf(REPO, 'strict')).toEqual([BOT.login]);
    expect(await host.hasCreatedBranch(REPO, BOT.login, 'stri')).toBe(true);
    expect(await host.hasCreatedBranch(REPO, BOT.login, 'svc/issue-')).toBe(false);
    expect(await host.hasCreatedBranch(REPO, ANNA.login, 'stri')).toBe(false);
    const marker = 'strict';
    await environment.execute({ type: 'addLabels', labels: ['svc:planning', 'svc:blocked'] }, issue);
    await environment.execute({ type: 'swapLabels', remove: ['svc:planning', 'nope'], add: ['svc:in-review'] }, issue);
    await environment.execute({ type: 'postComment', body: 'b', marker }, issue);
    await environment.execute({ type: 'updateComment', body: 'c', marker }, issue);
    await environment.execute(
      { type: 'createIssue', title: 't', body: 'b', labels: ['svc:enqueue'], marker },
      issue,
      true,
    );
    await environment.execute({ type: 'linkSubIssue', parentIssueNumber: issue, childIssueNumber: child }, issue);
    await environment.execute({ type: 'linkSubIssue', parentIssueNumber: issue, childIssueNumber: child }, issue);
    await environment.execute({ type: 'assignIssue', assignees: ['anna'] }, issue);
    const created = await environment.execute(
      { type: 'createPR', head: 'strict', base: 'main', title: 't', body: 'b', draft: false, marker },
      issue,
      true,
    );
    const prNumber = (created as { created: { number: number } }).created.number;
    const status = { context: 'svc/review', state: 'success', description: 'd', targetUrl: null } as const;
    await environment.execute({ type: 'setCommitStatus', sha: head, ...status });
    await environment.execute({ type: 'setCommitStatus', sha: head, ...status }, 1, true);
    await environment.execute({ type: 'updatePR', prNumber, title: 'u', body: 'v' });
    const merge = { type: 'mergePR', prNumber, method: 'squash' } as const;
    await environment.execute({ ...merge, expectedHeadSha: '0'.repeat(40) });
    await host.getPullRequest(REPO, prNumber);
    await environment.execute({ ...merge, expectedHeadSha: head });
    await environment.execute({ ...merge, expectedHeadSha: head });
    const second = await environment.push('other', 'other.txt', 'x\n');
    const other = await environment.execute(
      { type: 'createPR', head: 'other', base: 'main', title: 't', body: 'b', draft: true, marker: 'other' },
      issue,
    );
    const otherNumber = (other as { created: { number: number } }).created.number;
    await environment.execute({ type: 'requestReview', prNumber: otherNumber, reviewers: ['anna'] });
    const inline = { path: 'other.txt', line: 1, body: 'why?' };
    const review = { type: 'submitReview', prNumber: otherNumber, event: 'comment', body: 'hm', comments: [inline] };
    await environment.execute(review as ProjectionAction);
    await environment.execute(review as ProjectionAction, 1, true);
    await host.listReviews(REPO, otherNumber);
    await host.findPullRequests(REPO, 'other');
    await environment.execute({
      type: 'setCommitStatus',
      sha: second,
      ...status,
      targetUrl: 'https://ci.example.org/1',
    });
    await environment.execute({ type: 'closePR', prNumber: otherNumber, comment: 'no' });
    await environment.execute({ type: 'deleteBranch', branch: 'other' });
    await environment.execute({ type: 'deleteBranch', branch: 'other' });
    await environment.execute({ type: 'removeLabels', labels: ['svc:in-review', 'nope'] }, issue);
    const [comment] = await host.listComments(REPO, issue);
    await host.react(REPO, comment?.id ?? 0, '+1');
    await environment.execute({ type: 'closeIssue', reason: 'completed', comment: 'done' }, issue);
    await environment.execute({ type: 'reopenIssue' }, issue);
    await host.listIssues(REPO, { state: 'all', labels: ['svc:in-review'], since: '2026-01-01T00:00:00Z' });
    await host.listComments(REPO, issue, '2026-01-01T00:00:00Z');
    await host.getIssue(REPO, 99_999);
    await environment.execute({ type: 'postComment', body: 'b', marker }, 99_999);
    expect(violations()).toEqual([]);
  });

  test('the rest of the described subset answers in form too, errors included', async () => {
    const send = recordingFetch(environment.exchanges);
    const call = (method: string, path: string, body?: unknown, token: string = BOT.token) =>
      send(`${environment.sandbox.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const repo = '/repos/acme/shop';
    const issue = await openIssue(environment);
    for (const requiredApprovals of [1, 0]) {
      const collaborators = { [BOT.login]: 'admin', anna: 'write' } as const;
      await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators, requiredApprovals });
      for (const path of ['branches/main', 'branches/main/protection', 'rules/branches/main', 'branches/none']) {
        await call('GET', `${repo}/${path}`);
      }
    }
    await call('PUT', `${repo}/issues/${issue}/labels`, { labels: ['bug'] });
    await call('GET', `${repo}/issues/${issue}/labels`);
    await call('POST', `${repo}/labels`, { name: 'fresh', color: 'ff0000', description: 'new' });
    await call('POST', `${repo}/labels`, { name: 'fresh', color: 'ff0000' });
    await call('GET', `${repo}/labels?per_page=1&page=2`);
    const sha = await environment.push('checked', 'checked.txt', 'x\n');
    const ci = await ciToken(environment);
    const run = { name: 'ci', head_sha: sha, conclusion: 'success' };
    await call('POST', `${repo}/check-runs`, run, ci);
    await call('GET', `${repo}/commits/${sha}/check-runs`);
    await call('GET', `${repo}/commits/${sha}/status`);
    await call('GET', `${repo}/commits/main/status`);
    await call('GET', '/rate_limit');
    await call('GET', '/user');
    await call('GET', `${repo}/issues?per_page=2&state=all`);
    await call('GET', `${repo}/pulls/99999`);
    await call('PATCH', `${repo}/issues/${issue}`, { title: 'Other', body: null, labels: [], assignees: [] });
    expect(violations()).toEqual([]);
    const registration = { name: 'strict', org: null, webhookUrl: null, redirectUrl: 'http://127.0.0.1:1/', state: '' };
    const confirm = await postRegistration(appRegistrationForm(environment.sandbox.url, registration));
    const { location } = await submitForm(confirm, { name: 'strict', token: ANNA.token });
    await call('POST', `/app-manifests/${new URL(location ?? '').searchParams.get('code')}/conversions`);
    expect(violations()).toEqual([]);
    const app = shopApp(environment);
    await app.accessTo({ repo: REPO, installationId: null, permissions: { contents: 'write' } });
    expect(violations()).toEqual([]);
    expect(describedOperations().filter((operation) => !check.seen.has(operation))).toEqual([]);
  });

  test('a wounded request and a wounded answer are reported', async () => {
    await environment.as(ANNA.token).getIssue(REPO, 1);
    const good = environment.exchanges.at(-1) as Exchange;
    expect(check.violations(good)).toEqual([]);
    const { user: _user, ...rest } = good.answer as Record<string, unknown>;
    expect(check.violations({ ...good, answer: rest })).toEqual([expect.stringContaining("'user'")]);
    expect(check.violations({ ...good, url: `${good.url}?colour=red` })).toEqual([expect.stringContaining('colour')]);
    const close = { ...good, method: 'PATCH', body: { state: 'done' } };
    expect(check.violations(close)).toEqual([expect.stringContaining('/state')]);
    expect(check.violations({ ...close, body: { status: 'closed' } })).toEqual([expect.stringContaining('additional')]);
    expect(check.violations({ ...close, body: { state: 'closed' }, status: 418 })).toEqual([
      expect.stringContaining('418'),
    ]);
  });
});
