import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ANNA, createWorld, openIssue, REPO, type World } from '@pipeline/testing/sandbox';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

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
  head = await world.push(branch, `file-${serial}.txt`, 'text\n');
  const created = await world.execute(create());
  expect(created).toMatchObject({ status: 'ok', repeated: false });
  prNumber = (created as { created: { number: number } }).created.number;
});

test('a pull request is made once, found by marker and by branch', async () => {
  expect(await world.execute(create(), 1, true)).toMatchObject({ repeated: true, created: { number: prNumber } });
  expect(await world.execute(create('other'))).toMatchObject({ repeated: true, created: { number: prNumber } });
  expect(await world.host.findPullRequests(REPO, branch)).toMatchObject([
    { number: prNumber, headSha: head, merged: false },
  ]);
  const missing = { ...create(), head: 'no-such-branch' };
  expect(await world.execute(missing)).toMatchObject({ status: 'refused', httpStatus: 422 });
});

test('an edit keeps the marker, and draft is switched both ways', async () => {
  const edit = { type: 'updatePR', prNumber, title: 'Better', body: 'New text', draft: true } as const;
  expect(await world.execute(edit)).toMatchObject({ status: 'ok', repeated: false });
  const pull = await world.host.getPullRequest(REPO, prNumber);
  expect(pull).toMatchObject({
    title: 'Better',
    draft: true,
    body: expect.stringMatching(/^New text\n\n<!-- svc:svc\/issue-/),
  });
  expect(await world.execute(merge())).toMatchObject({ status: 'refused', kind: 'not-ready' });
  expect(await world.execute({ ...edit, draft: false })).toMatchObject({ repeated: false });
  expect(await world.execute({ ...edit, draft: false })).toMatchObject({ repeated: true });
});

describe('merge', () => {
  test.each(['merge', 'squash', 'rebase'] as const)('%s lands the change on the base branch, once', async (method) => {
    const result = await world.execute(merge({ method }));
    expect(result).toMatchObject({ status: 'ok', repeated: false });
    const { sha } = (result as { created: { sha: string } }).created;
    expect(await world.execute(merge({ method }), 1, true)).toMatchObject({ repeated: true, created: { sha } });
    expect(await world.execute(merge({ method }))).toMatchObject({ repeated: true, created: { sha } });
    await world.git(['clone', '-q', `${world.sandbox.url}/acme/shop.git`, `clone-${method}`]);
    const clone = `${world.dir}/clone-${method}`;
    expect(await world.git(['rev-parse', 'main'], clone)).toBe(sha);
    expect(await world.git(['show', `main:file-${serial}.txt`], clone)).toBe('text');
    const parents = (await world.git(['log', '-1', '--format=%P', 'main'], clone)).split(' ');
    expect(parents).toHaveLength(method === 'merge' ? 2 : 1);
  });

  test('a lost answer is settled by looking, not by a second merge', async () => {
    world.sandbox.failNext({ drop: 'after', match: { method: 'PUT', path: '/merge' } });
    expect(await world.execute(merge())).toMatchObject({ status: 'failed', ambiguous: true });
    const puts = () => world.exchanges.filter((exchange) => exchange.method === 'PUT').length;
    const before = puts();
    expect(await world.execute(merge(), 1, true)).toMatchObject({ status: 'ok', repeated: true });
    expect(puts()).toBe(before);
  });

  test('a rebase replays each commit on what the one before it left', async () => {
    const text = (line: string) => `one\ntwo\n${line}\n`;
    await world.push(branch, 'replayed.txt', text('first'));
    head = await world.push(branch, 'replayed.txt', text('second'));
    await world.push('main', `elsewhere-${serial}.txt`, 'moved on\n');
    expect(await world.execute(merge({ method: 'rebase' }))).toMatchObject({ status: 'ok' });
    await world.git(['clone', '-q', `${world.sandbox.url}/acme/shop.git`, 'clone-replayed']);
    const clone = `${world.dir}/clone-replayed`;
    expect(await world.git(['show', 'main:replayed.txt'], clone)).toBe(text('second').trim());
    const titles = await world.git(['log', '-4', '--format=%s', 'main'], clone);
    expect(titles.split('\n')).toEqual([
      'change replayed.txt',
      'change replayed.txt',
      `change file-${serial}.txt`,
      `change elsewhere-${serial}.txt`,
    ]);
  });

  test('a moved head is not ready', async () => {
    await world.push(branch, 'later.txt', 'more\n');
    expect(await world.execute(merge())).toMatchObject({ status: 'refused', httpStatus: 409, kind: 'not-ready' });
  });

  test('a conflict is told apart', async () => {
    const other = `${branch}-b`;
    head = await world.push(other, 'list.txt', `mine ${serial}\n`);
    await world.push('main', 'list.txt', `theirs ${serial}\n`);
    const made = await world.execute({ ...create('conflict'), head: other });
    prNumber = (made as { created: { number: number } }).created.number;
    for (const method of ['merge', 'rebase']) {
      expect(await world.execute(merge({ method }))).toMatchObject({
        status: 'refused',
        httpStatus: 405,
        kind: 'conflict',
      });
    }
  });

  test('a protected branch wants a person’s approval first', async () => {
    const collaborators = { 'pipeline-bot': 'write', anna: 'write' } as const;
    await world.sandbox.addRepo({ slug: 'acme/shop', collaborators, requiredApprovals: 1 });
    expect(await world.execute(merge())).toMatchObject({ status: 'refused', kind: 'protected' });
    const own = { type: 'submitReview', prNumber, event: 'approve', body: 'fine', comments: [] } as const;
    expect(await world.execute({ ...own, comments: [] })).toMatchObject({ status: 'refused', httpStatus: 422 });
    await world.as(ANNA.token).execute(REPO, 1, { ...own, comments: [] }, { mayHaveHappened: false });
    expect(await world.execute(merge())).toMatchObject({ status: 'ok' });
    await world.sandbox.addRepo({ slug: 'acme/shop', collaborators });
  });

  test('a closed pull request is refused, a closing keyword closes the issue at merge', async () => {
    const issue = await openIssue(world);
    await world.execute({ type: 'updatePR', prNumber, body: `Fixes #${issue}` });
    expect(await world.execute({ type: 'closePR', prNumber, comment: 'no' })).toMatchObject({ repeated: false });
    expect(await world.execute({ type: 'closePR', prNumber, comment: 'no' })).toMatchObject({ repeated: true });
    expect(await world.host.listComments(REPO, prNumber)).toHaveLength(1);
    expect(await world.execute(merge())).toMatchObject({ status: 'refused', httpStatus: 405, kind: 'other' });
    await world.api('PATCH', `/repos/acme/shop/pulls/${prNumber}`, { state: 'open' });
    expect(await world.execute(merge())).toMatchObject({ status: 'ok' });
    expect(await world.host.getIssue(REPO, issue)).toMatchObject({ state: 'closed', stateReason: 'completed' });
  });
});

test('a review with a lost answer stands once', async () => {
  const comments = [{ path: `file-${serial}.txt`, line: 1, body: 'why?' }];
  const review = { type: 'submitReview', prNumber, event: 'comment', body: 'Looked', comments } as const;
  world.sandbox.failNext({ drop: 'after', match: { method: 'POST', path: '/reviews' } });
  expect(await world.execute({ ...review, comments })).toMatchObject({ status: 'failed', ambiguous: true });
  expect(await world.execute({ ...review, comments }, 1, true)).toMatchObject({ status: 'ok', repeated: true });
  expect(await world.host.listReviews(REPO, prNumber)).toMatchObject([{ verdict: 'commented', commitSha: head }]);
  expect(await world.execute({ type: 'requestReview', prNumber, reviewers: ['anna'] })).toMatchObject({ status: 'ok' });
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
  expect(await world.execute(status)).toMatchObject({ repeated: false });
  expect(await world.execute(status, 1, true)).toMatchObject({ repeated: true });
  expect(await world.execute({ type: 'deleteBranch', branch })).toMatchObject({ status: 'ok', repeated: false });
  expect(await world.execute({ type: 'deleteBranch', branch })).toMatchObject({ status: 'ok', repeated: true });
  expect(await world.execute({ type: 'deleteBranch', branch: 'main' })).toMatchObject({
    status: 'refused',
    httpStatus: 422,
  });
  expect(await world.host.getPullRequest(REPO, prNumber)).toMatchObject({ state: 'closed', merged: false });
});
