import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ANNA, createSandboxEnvironment, openIssue, REPO, type SandboxEnvironment } from '@pipeline/testing/sandbox';

let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());

let branch: string;
let head: string;
let prNumber: number;
let serial = 0;
const create = (marker = branch) =>
  ({ type: 'createPR', head: branch, base: 'main', title: 'Change', body: 'Refs #1', draft: false, marker }) as const;
const merge = (more: object = {}) =>
  ({ type: 'mergePR', prNumber, method: 'merge', expectedHeadSha: head, ...more }) as const;

beforeEach(async () => {
  serial += 1;
  branch = `svc/issue-${serial}`;
  head = await environment.push(branch, `file-${serial}.txt`, 'text\n');
  const created = await environment.execute(create());
  expect(created).toMatchObject({ status: 'ok', repeated: false });
  prNumber = (created as { created: { number: number } }).created.number;
});

test('a pull request is made once, found by marker and by branch', async () => {
  expect(await environment.execute(create(), 1, true)).toMatchObject({ repeated: true, created: { number: prNumber } });
  expect(await environment.execute(create('other'))).toMatchObject({ repeated: true, created: { number: prNumber } });
  expect(await environment.host.findPullRequests(REPO, branch)).toMatchObject([
    { number: prNumber, headSha: head, merged: false },
  ]);
  const missing = { ...create(), head: 'no-such-branch' };
  expect(await environment.execute(missing)).toMatchObject({ status: 'refused', httpStatus: 422 });
});

test('an edit keeps the marker, and draft is switched both ways', async () => {
  const edit = { type: 'updatePR', prNumber, title: 'Better', body: 'New text', draft: true } as const;
  expect(await environment.execute(edit)).toMatchObject({ status: 'ok', repeated: false });
  const pull = await environment.host.getPullRequest(REPO, prNumber);
  expect(pull).toMatchObject({
    title: 'Better',
    draft: true,
    body: expect.stringMatching(/^New text\n\n<!-- svc:svc\/issue-/),
  });
  expect(await environment.execute(merge())).toMatchObject({ status: 'refused', kind: 'draft' });
  expect(await environment.execute({ ...edit, draft: false })).toMatchObject({ repeated: false });
  expect(await environment.execute({ ...edit, draft: false })).toMatchObject({ repeated: true });
});

describe('merge', () => {
  test.each(['merge', 'squash', 'rebase'] as const)('%s lands the change on the base branch, once', async (method) => {
    const result = await environment.execute(merge({ method }));
    expect(result).toMatchObject({ status: 'ok', repeated: false });
    const { sha } = (result as { created: { sha: string } }).created;
    expect(await environment.execute(merge({ method }), 1, true)).toMatchObject({ repeated: true, created: { sha } });
    expect(await environment.execute(merge({ method }))).toMatchObject({ repeated: true, created: { sha } });
    await environment.git(['clone', '-q', `${environment.sandbox.url}/acme/shop.git`, `clone-${method}`]);
    const clone = `${environment.dir}/clone-${method}`;
    expect(await environment.git(['rev-parse', 'main'], clone)).toBe(sha);
    expect(await environment.git(['show', `main:file-${serial}.txt`], clone)).toBe('text');
    const parents = (await environment.git(['log', '-1', '--format=%P', 'main'], clone)).split(' ');
    expect(parents).toHaveLength(method === 'merge' ? 2 : 1);
  });

  test('a lost answer is settled by looking, not by a second merge', async () => {
    environment.sandbox.failNext({ drop: 'after', match: { method: 'PUT', path: '/merge' } });
    expect(await environment.execute(merge())).toMatchObject({ status: 'failed', ambiguous: true });
    const puts = () => environment.exchanges.filter((exchange) => exchange.method === 'PUT').length;
    const before = puts();
    expect(await environment.execute(merge(), 1, true)).toMatchObject({ status: 'ok', repeated: true });
    expect(puts()).toBe(before);
  });

  test('a rebase replays each commit on what the one before it left', async () => {
    const text = (line: string) => `one\ntwo\n${line}\n`;
    await environment.push(branch, 'replayed.txt', text('first'));
    head = await environment.push(branch, 'replayed.txt', text('second'));
    await environment.push('main', `elsewhere-${serial}.txt`, 'moved on\n');
    expect(await environment.execute(merge({ method: 'rebase' }))).toMatchObject({ status: 'ok' });
    await environment.git(['clone', '-q', `${environment.sandbox.url}/acme/shop.git`, 'clone-replayed']);
    const clone = `${environment.dir}/clone-replayed`;
    expect(await environment.git(['show', 'main:replayed.txt'], clone)).toBe(text('second').trim());
    const titles = await environment.git(['log', '-4', '--format=%s', 'main'], clone);
    expect(titles.split('\n')).toEqual([
      'change replayed.txt',
      'change replayed.txt',
      `change file-${serial}.txt`,
      `change elsewhere-${serial}.txt`,
    ]);
  });

  test('a moved head is not ready', async () => {
    await environment.push(branch, 'later.txt', 'more\n');
    expect(await environment.execute(merge())).toMatchObject({ status: 'refused', httpStatus: 409, kind: 'not-ready' });
  });

  test('distinguishes a conflict', async () => {
    const other = `${branch}-b`;
    head = await environment.push(other, 'list.txt', `mine ${serial}\n`);
    await environment.push('main', 'list.txt', `theirs ${serial}\n`);
    const made = await environment.execute({ ...create('conflict'), head: other });
    prNumber = (made as { created: { number: number } }).created.number;
    for (const method of ['merge', 'rebase']) {
      expect(await environment.execute(merge({ method }))).toMatchObject({
        status: 'refused',
        httpStatus: 405,
        kind: 'conflict',
      });
    }
  });

  test('a protected branch wants a person’s approval first', async () => {
    const collaborators = { 'pipeline-bot': 'write', anna: 'write' } as const;
    await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators, requiredApprovals: 1 });
    expect(await environment.execute(merge())).toMatchObject({ status: 'refused', kind: 'protected' });
    const own = { type: 'submitReview', prNumber, event: 'approve', body: 'fine', comments: [] } as const;
    expect(await environment.execute({ ...own, comments: [] })).toMatchObject({ status: 'refused', httpStatus: 422 });
    await environment.as(ANNA.token).execute(REPO, 1, { ...own, comments: [] }, { mayHaveHappened: false });
    expect(await environment.execute(merge())).toMatchObject({ status: 'ok' });
    await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators });
  });

  test('a closed pull request is refused, a closing keyword closes the issue at merge', async () => {
    const issue = await openIssue(environment);
    await environment.execute({ type: 'updatePR', prNumber, body: `Fixes #${issue}` });
    expect(await environment.execute({ type: 'closePR', prNumber, comment: 'no' })).toMatchObject({ repeated: false });
    expect(await environment.execute({ type: 'closePR', prNumber, comment: 'no' })).toMatchObject({ repeated: true });
    expect(await environment.host.listComments(REPO, prNumber)).toHaveLength(1);
    expect(await environment.execute(merge())).toMatchObject({ status: 'refused', httpStatus: 405, kind: 'other' });
    await environment.api('PATCH', `/repos/acme/shop/pulls/${prNumber}`, { state: 'open' });
    expect(await environment.execute(merge())).toMatchObject({ status: 'ok' });
    expect(await environment.host.getIssue(REPO, issue)).toMatchObject({ state: 'closed', stateReason: 'completed' });
  });
});

test('a squash closes no issue when the messages of its commits name one with a closing word', async () => {
  const title = 'Add a file';
  expect(await environment.execute(merge({ method: 'squash', title }), 9)).toMatchObject({ status: 'ok' });
  const sent = environment.exchanges.findLast(({ method }) => method === 'PUT');
  expect(sent?.body).toMatchObject({ commit_title: `${title} (#${prNumber})`, commit_message: 'Refs #9' });
});

test('a review with a lost answer stands once', async () => {
  const comments = [{ path: `file-${serial}.txt`, line: 1, body: 'why?' }];
  const review = { type: 'submitReview', prNumber, event: 'comment', body: 'Looked', comments } as const;
  environment.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: '/reviews' } });
  expect(await environment.execute({ ...review, comments })).toMatchObject({ status: 'failed', ambiguous: true });
  expect(await environment.execute({ ...review, comments }, 1, true)).toMatchObject({ status: 'ok', repeated: true });
  expect(await environment.host.listReviews(REPO, prNumber)).toMatchObject([{ verdict: 'commented', commitSha: head }]);
  expect(await environment.execute({ type: 'requestReview', prNumber, reviewers: ['anna'] })).toMatchObject({
    status: 'ok',
  });
});

test('a status is not set on a commit that is not the head of its pull request', async () => {
  const other = await environment.push(`other-${serial}`, `other-${serial}.txt`, 'text\n');
  const status = { type: 'setCommitStatus', context: 'svc/review', state: 'success', description: 'ok' } as const;
  const of = { ...status, prNumber, targetUrl: null };
  expect(await environment.execute({ ...of, sha: other })).toMatchObject({ status: 'ok', repeated: true });
  expect(await environment.execute({ ...of, sha: head })).toMatchObject({ status: 'ok', repeated: false });
  const shown = async (sha: string) => (await environment.api('GET', `/repos/acme/shop/commits/${sha}/status`)).data;
  expect(await shown(other)).toMatchObject({ statuses: [] });
  expect(await shown(head)).toMatchObject({ statuses: [{ context: 'svc/review' }] });
});

test('statuses repeat quietly, a deleted branch stays deleted and closes its pull request', async () => {
  const status = {
    type: 'setCommitStatus',
    sha: head,
    context: 'svc/review',
    state: 'success',
    description: 'ok',
    targetUrl: null,
  } as const;
  expect(await environment.execute(status)).toMatchObject({ repeated: false });
  expect(await environment.execute(status, 1, true)).toMatchObject({ repeated: true });
  expect(await environment.execute({ type: 'deleteBranch', branch })).toMatchObject({ status: 'ok', repeated: false });
  expect(await environment.execute({ type: 'deleteBranch', branch })).toMatchObject({ status: 'ok', repeated: true });
  expect(await environment.execute({ type: 'deleteBranch', branch: 'main' })).toMatchObject({
    status: 'refused',
    httpStatus: 422,
  });
  expect(await environment.host.getPullRequest(REPO, prNumber)).toMatchObject({ state: 'closed', merged: false });
});
