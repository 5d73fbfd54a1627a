import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { HostEvent } from '@pipeline/domain';
import {
  ANNA,
  BOT,
  createSandboxEnvironment,
  REPO,
  type Receiver,
  type SandboxEnvironment,
  STRANGER,
  startReceiver,
} from '@pipeline/testing/sandbox';

let environment: SandboxEnvironment;
let hook: Receiver;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
  hook = await startReceiver(environment);
});
afterAll(async () => {
  await hook.stop();
  await environment.end();
});

const shop = '/repos/acme/shop';
const as =
  ({ token }: { token: string }) =>
  (method: string, path: string, body?: unknown) =>
    environment.api(method, path, body, token);
const stranger = as(STRANGER);
const anna = as(ANNA);

let branch: string;
let head: string;
let serial = 0;
beforeEach(async () => {
  serial += 1;
  branch = `svc/issue-${serial}`;
  await stranger('POST', `${shop}/forks`, {});
  head = await environment.push(branch, `file-${serial}.txt`, 'mine\n', {
    repo: 'stranger/shop',
    token: STRANGER.token,
  });
});

const open = async () => {
  const answer = await stranger('POST', `${shop}/pulls`, { title: 'Mine', head: `stranger:${branch}`, base: 'main' });
  expect(answer.status).toBe(201);
  return (answer.data as { number: number }).number;
};
const createPR = { type: 'createPR', base: 'main', title: 'Ours', body: '', draft: false, marker: 'm' } as const;
const pullEvents = async () =>
  (await hook.events()).flatMap((event: HostEvent) => (event.kind === 'pull-request' ? [event] : []));

describe('a fork', () => {
  test('creates a fork once for each owner, and shows it as a fork', async () => {
    const again = await stranger('POST', `${shop}/forks`, {});
    expect(again).toMatchObject({ status: 202, data: { full_name: 'stranger/shop', fork: true } });
    expect((await stranger('GET', `${shop}/forks`)).data).toHaveLength(1);
    expect((await stranger('GET', shop)).data).toMatchObject({ fork: false });
  });

  test('only the owner writes to a fork', async () => {
    const elsewhere = environment.push('x', 'x.txt', 'x', { repo: 'stranger/shop', token: ANNA.token });
    await expect(elsewhere).rejects.toThrow(/403|denied|not granted/i);
  });
});

describe('a pull request from a fork', () => {
  test('names the repository, label and owner of its branch as the host does', async () => {
    const number = await open();
    expect((await anna('GET', `${shop}/pulls/${number}`)).data).toMatchObject({
      head: { label: `stranger:${branch}`, ref: branch, sha: head, repo: { full_name: 'stranger/shop', fork: true } },
      base: { label: 'acme:main', repo: { full_name: 'acme/shop' } },
      user: { login: 'stranger' },
      author_association: 'NONE',
      mergeable: true,
    });
    expect(await environment.host.getPullRequest(REPO, number)).toMatchObject({
      headRepo: 'stranger/shop',
      headRef: branch,
      headSha: head,
      author: 'stranger',
    });
  });

  test('only those who may write to the fork open a pull request from it', async () => {
    const wanted = { title: 'Mine', head: `stranger:${branch}`, base: 'main' };
    expect((await anna('POST', `${shop}/pulls`, wanted)).status).toBe(403);
    expect((await stranger('POST', `${shop}/pulls`, { ...wanted, head: branch })).status).toBe(403);
    expect((await stranger('POST', `${shop}/pulls`, { ...wanted, head: `nobody:${branch}` })).status).toBe(422);
  });

  test('announces the pull request with its repository when it is opened, pushed to and closed', async () => {
    const number = await open();
    const file = `more-${serial}.txt`;
    const moved = await environment.push(branch, file, 'more\n', { repo: 'stranger/shop', token: STRANGER.token });
    await stranger('PATCH', `${shop}/pulls/${number}`, { state: 'closed' });
    const seen = (await pullEvents()).filter(({ pullRequest }) => pullRequest.number === number);
    expect(seen.map(({ action, pullRequest }) => [action, pullRequest.headRepo, pullRequest.headSha])).toEqual([
      ['opened', 'stranger/shop', head],
      ['synchronize', 'stranger/shop', moved],
      ['closed', 'stranger/shop', moved],
    ]);
  });

  test('a maintainer merges the pull request at the head that was named, and at no other', async () => {
    const number = await open();
    const merge = (sha: string) => anna('PUT', `${shop}/pulls/${number}/merge`, { sha });
    expect((await merge('0'.repeat(40))).status).toBe(409);
    expect(await merge(head)).toMatchObject({ status: 200, data: { merged: true } });
    await environment.git(['clone', '-q', `${environment.sandbox.url}/acme/shop.git`, `merged-${serial}`]);
    expect(await environment.git(['show', `HEAD:file-${serial}.txt`], `${environment.dir}/merged-${serial}`)).toBe(
      'mine',
    );
  });

  test('a pull request from a fork is never found or adopted as the one of our own branch of that name', async () => {
    const number = await open();
    expect(await environment.host.findPullRequests(REPO, branch)).toEqual([]);
    const ours = await environment.push(branch, `ours-${serial}.txt`, 'ours\n');
    const made = await environment.execute({ ...createPR, head: branch }, 1, true);
    expect(made).toMatchObject({ status: 'ok', repeated: false, created: { sha: ours } });
    expect(await environment.host.findPullRequests(REPO, branch)).toMatchObject([
      { headRepo: 'acme/shop', headSha: ours },
    ]);
    expect((made as { created: { number: number } }).created.number).not.toBe(number);
  });

  test('deleting the fork closes the pull request, which shows no repository', async () => {
    const number = await open();
    expect((await stranger('DELETE', '/repos/stranger/shop')).status).toBe(204);
    expect(await environment.host.getPullRequest(REPO, number)).toMatchObject({
      state: 'closed',
      headRepo: null,
      author: 'stranger',
    });
    expect((await pullEvents()).at(-1)?.pullRequest).toMatchObject({ number, headRepo: null, state: 'closed' });
  });
});

describe('the branch of an issue', () => {
  test('does not take the branch over from a person who has opened a pull request from it', async () => {
    await environment.push(branch, `ours-${serial}.txt`, 'ours\n');
    await anna('POST', `${shop}/pulls`, { title: 'Hers', head: branch, base: 'main' });
    const wanted = { ...createPR, head: branch };
    expect(await environment.execute(wanted)).toMatchObject({
      status: 'refused',
      kind: 'other',
      message: expect.stringContaining('anna'),
    });
    const listed = { mayHaveHappened: false, workerLogins: ['Anna'] };
    expect(await environment.host.execute(REPO, 1, wanted, listed)).toMatchObject({ status: 'ok', repeated: true });
  });

  test('refuses a branch of a fork that a worker names', async () => {
    const wanted = { ...createPR, head: `stranger:${branch}` };
    expect(await environment.as(BOT.token).execute(REPO, 1, wanted, { mayHaveHappened: false })).toMatchObject({
      status: 'refused',
      httpStatus: 422,
    });
  });
});

test('a dismissed review is announced, listed as dismissed and counts no more', async () => {
  await environment.push(branch, `ours-${serial}.txt`, 'ours\n');
  const made = await environment.execute({ ...createPR, head: branch });
  const { number } = (made as { created: { number: number } }).created;
  const { data } = await anna('POST', `${shop}/pulls/${number}/reviews`, { event: 'APPROVE' });
  const { id } = data as { id: number };
  const dismissal = `${shop}/pulls/${number}/reviews/${id}/dismissals`;
  expect((await stranger('PUT', dismissal, { message: 'no' })).status).toBe(403);
  expect((await anna('PUT', dismissal, { message: 'I was wrong' })).status).toBe(200);
  expect(await environment.host.listReviews(REPO, number)).toMatchObject([
    { id, verdict: 'dismissed', author: 'anna' },
  ]);
  const reviews = (await hook.events()).filter(({ kind }) => kind === 'review').slice(-2);
  expect(reviews).toMatchObject([
    { review: { id, verdict: 'approved' }, sender: 'anna' },
    { review: { id, verdict: 'dismissed' }, sender: 'anna' },
  ]);
});
