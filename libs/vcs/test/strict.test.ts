import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProjectionAction } from '@pipeline/domain';
import {
  ANNA,
  BOT,
  createWorld,
  type Exchange,
  openIssue,
  REPO,
  recordingFetch,
  shopApp,
  type World,
} from '@pipeline/testing/sandbox';
import { createStrictCheck, describedOperations } from './strict.ts';

let world: World;
let check: ReturnType<typeof createStrictCheck>;
beforeAll(async () => {
  world = await createWorld();
  check = createStrictCheck();
});
afterAll(() => world.end());
const violations = () => world.exchanges.flatMap((exchange) => check.violations(exchange));

describe('the adapter and the sandbox, held to the host’s own description', () => {
  test('whatever the adapter sends and the sandbox answers has no violation', async () => {
    const { host } = world;
    const issue = await openIssue(world);
    const child = await openIssue(world);
    await host.login();
    await host.getRepo(REPO);
    await host.permissionOf(REPO, 'anna');
    await host.pushProtectionOf(REPO, 'main');
    const head = await world.push('strict', 'strict.txt', 'x\n');
    const marker = 'strict';
    await world.execute({ type: 'addLabels', labels: ['svc:planning', 'svc:blocked'] }, issue);
    await world.execute({ type: 'swapLabels', remove: ['svc:planning', 'nope'], add: ['svc:in-review'] }, issue);
    await world.execute({ type: 'postComment', body: 'b', marker }, issue);
    await world.execute({ type: 'updateComment', body: 'c', marker }, issue);
    await world.execute({ type: 'createIssue', title: 't', body: 'b', labels: ['svc:enqueue'], marker }, issue, true);
    await world.execute({ type: 'linkSubIssue', parentIssueNumber: issue, childIssueNumber: child }, issue);
    await world.execute({ type: 'linkSubIssue', parentIssueNumber: issue, childIssueNumber: child }, issue);
    await world.execute({ type: 'assignIssue', assignees: ['anna'] }, issue);
    const created = await world.execute(
      { type: 'createPR', head: 'strict', base: 'main', title: 't', body: 'b', draft: false, marker },
      issue,
      true,
    );
    const prNumber = (created as { created: { number: number } }).created.number;
    const status = { context: 'svc/review', state: 'success', description: 'd', targetUrl: null } as const;
    await world.execute({ type: 'setCommitStatus', sha: head, ...status });
    await world.execute({ type: 'setCommitStatus', sha: head, ...status }, 1, true);
    await world.execute({ type: 'updatePR', prNumber, title: 'u', body: 'v' });
    const merge = { type: 'mergePR', prNumber, method: 'squash' } as const;
    await world.execute({ ...merge, expectedHeadSha: '0'.repeat(40) });
    await host.getPullRequest(REPO, prNumber);
    await world.execute({ ...merge, expectedHeadSha: head });
    await world.execute({ ...merge, expectedHeadSha: head });
    const second = await world.push('other', 'other.txt', 'x\n');
    const other = await world.execute(
      { type: 'createPR', head: 'other', base: 'main', title: 't', body: 'b', draft: true, marker: 'other' },
      issue,
    );
    const otherNumber = (other as { created: { number: number } }).created.number;
    await world.execute({ type: 'requestReview', prNumber: otherNumber, reviewers: ['anna'] });
    const remark = { path: 'other.txt', line: 1, body: 'why?' };
    const review = { type: 'submitReview', prNumber: otherNumber, event: 'comment', body: 'hm', comments: [remark] };
    await world.execute(review as ProjectionAction);
    await world.execute(review as ProjectionAction, 1, true);
    await host.listReviews(REPO, otherNumber);
    await host.findPullRequests(REPO, 'other');
    await world.execute({ type: 'setCommitStatus', sha: second, ...status, targetUrl: 'https://ci.example.org/1' });
    await world.execute({ type: 'closePR', prNumber: otherNumber, comment: 'no' });
    await world.execute({ type: 'deleteBranch', branch: 'other' });
    await world.execute({ type: 'deleteBranch', branch: 'other' });
    await world.execute({ type: 'removeLabels', labels: ['svc:in-review', 'nope'] }, issue);
    const [comment] = await host.listComments(REPO, issue);
    await host.react(REPO, comment?.id ?? 0, '+1');
    await world.execute({ type: 'closeIssue', reason: 'completed', comment: 'done' }, issue);
    await world.execute({ type: 'reopenIssue' }, issue);
    await host.listIssues(REPO, { state: 'all', labels: ['svc:in-review'], since: '2026-01-01T00:00:00Z' });
    await host.listComments(REPO, issue, '2026-01-01T00:00:00Z');
    await host.getIssue(REPO, 99_999);
    await world.execute({ type: 'postComment', body: 'b', marker }, 99_999);
    expect(violations()).toEqual([]);
  });

  test('the rest of the described subset answers in form too, errors included', async () => {
    const send = recordingFetch(world.exchanges);
    const call = (method: string, path: string, body?: unknown) =>
      send(`${world.sandbox.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${BOT.token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const repo = '/repos/acme/shop';
    const issue = await openIssue(world);
    for (const requiredApprovals of [1, 0]) {
      const collaborators = { [BOT.login]: 'admin', anna: 'write' } as const;
      await world.sandbox.addRepo({ slug: 'acme/shop', collaborators, requiredApprovals });
      for (const path of ['branches/main', 'branches/main/protection', 'rules/branches/main', 'branches/none']) {
        await call('GET', `${repo}/${path}`);
      }
    }
    await call('PUT', `${repo}/issues/${issue}/labels`, { labels: ['bug'] });
    await call('GET', `${repo}/issues/${issue}/labels`);
    await call('POST', `${repo}/labels`, { name: 'fresh', color: 'ff0000', description: 'new' });
    await call('POST', `${repo}/labels`, { name: 'fresh', color: 'ff0000' });
    await call('GET', `${repo}/labels?per_page=1&page=2`);
    const sha = await world.push('checked', 'checked.txt', 'x\n');
    await call('POST', `${repo}/check-runs`, { name: 'ci', head_sha: sha, conclusion: 'success' });
    await call('GET', `${repo}/commits/${sha}/check-runs`);
    await call('GET', `${repo}/commits/${sha}/status`);
    await call('GET', `${repo}/commits/main/status`);
    await call('GET', '/rate_limit');
    await call('GET', '/user');
    await call('GET', `${repo}/issues?per_page=2&state=all`);
    await call('GET', `${repo}/pulls/99999`);
    await call('PATCH', `${repo}/issues/${issue}`, { title: 'Other', body: null, labels: [], assignees: [] });
    expect(violations()).toEqual([]);
    const app = shopApp(world);
    await app.accessTo({ repo: REPO, installationId: null, permissions: { contents: 'write' } });
    expect(violations()).toEqual([]);
    expect(describedOperations().filter((operation) => !check.seen.has(operation))).toEqual([]);
  });

  test('a wounded request and a wounded answer are reported', async () => {
    await world.as(ANNA.token).getIssue(REPO, 1);
    const good = world.exchanges.at(-1) as Exchange;
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
