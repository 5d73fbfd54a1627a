import { expect, test } from '@jest/globals';
import { addRepo, labelIssue, makeTenant, makeToken, register, WORK } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

/** A tenant with two repos, an issue in each, a token for the first repo alone. */
async function twoRepos() {
  const tenant = await makeTenant(hosting.api);
  const other = await addRepo(hosting.api, tenant.id, `${tenant.repo.owner}/other`);
  await labelIssue(hosting.api, tenant.repo, 1);
  await labelIssue(hosting.api, other, 2);
  const token = await makeToken(hosting.api.owner.store, tenant.id, [tenant.repo.id]);
  const slugOf = ({ owner, name }: { owner: string; name: string }) => `${owner}/${name}`;
  return { tenant, token, mine: slugOf(tenant.repo), others: slugOf(other) };
}

const claimWith = async (token: string, repos: string[], name = 'w1') => {
  const workerId = await register(hosting.api, token, name);
  return hosting.api.post('/api/worker/claim', { workerId, taskTypes: WORK, repos }, { token });
};

test('a token for some repos claims in no other one, named or not', async () => {
  const { token, mine, others } = await twoRepos();
  expect((await claimWith(token, [others], 'a')).status).toBe(204);
  expect((await claimWith(token, [mine, others], 'b')).body.task.repo).toBe(mine);
  expect((await claimWith(token, [], 'c')).status).toBe(204);
});

test('a token for a whole tenant claims in the repos that are named', async () => {
  const { tenant, mine, others } = await twoRepos();
  expect((await claimWith(tenant.token, [others.toUpperCase()], 'a')).body.task.repo).toBe(others);
  expect((await claimWith(tenant.token, ['no/such', mine], 'b')).body.task.repo).toBe(mine);
  expect((await claimWith(tenant.token, ['no/such'], 'c')).status).toBe(204);
});

test('a registration is refused with the repo that the worker does not reach', async () => {
  const { token, mine, others } = await twoRepos();
  const put = (repos: string[]) =>
    hosting.api.post('/api/worker/register', { name: 'w', taskTypes: WORK, repos }, { token });
  expect((await put([mine, mine.toUpperCase()])).status).toBe(200);
  for (const repo of [others, 'no/such', '../..']) {
    const { status, body } = await put([mine, repo]);
    expect([status, body.code]).toEqual([400, 'INVALID_BODY']);
    expect(body.error).toContain(`${repo} is not enabled`);
  }
});

test('tenants with the same repo and worker names do not meet', async () => {
  const slug = 'same/name';
  const [one, two] = [await makeTenant(hosting.api, slug), await makeTenant(hosting.api, slug)];
  await labelIssue(hosting.api, one.repo, 1);
  expect((await claimWith(two.token, [slug])).status).toBe(204);
  const { task } = (await claimWith(one.token, [slug])).body;
  // The same name registers in the other tenant: it is another worker, and takes nothing back.
  await register(hosting.api, two.token);
  const foreign = await hosting.api.post(`/api/worker/tasks/${task.id}/extend`, { claimToken: task.claimToken }, two);
  expect(foreign.body.code).toBe('CLAIM_LOST');
  const workerId = await register(hosting.api, two.token);
  const stolen = await hosting.api.post('/api/worker/claim', { workerId, taskTypes: WORK }, one);
  expect(stolen.body.code).toBe('NOT_FOUND');
  const own = await hosting.api.post(`/api/worker/tasks/${task.id}/extend`, { claimToken: task.claimToken }, one);
  expect(own.status).toBe(200);
});

test('a claim answers to the worker token of its worker alone, whatever another token of the tenant sends', async () => {
  const tenant = await makeTenant(hosting.api);
  await labelIssue(hosting.api, tenant.repo, 1);
  const other = { token: await makeToken(hosting.api.owner.store, tenant.id, null) };
  const { task } = (await claimWith(tenant.token, [])).body;
  const { id, claimToken, leaseExpiresAt } = task;
  const reports = {
    start: { claimToken },
    extend: { claimToken },
    progress: { claimToken, status: 'mine now' },
    messages: { claimToken, items: [] },
    credentials: { claimToken },
    fail: { claimToken, errorMessage: 'gone', errorClass: 'permanent' },
    complete: { claimToken, outcome: 'not-planned', result: { reason: 'gone' } },
  };
  for (const [what, body] of Object.entries(reports)) {
    const answer = await hosting.api.post(`/api/worker/tasks/${id}/${what}`, body, other);
    expect([what, answer.body.code]).toEqual([what, 'CLAIM_LOST']);
  }
  const workerId = await register(hosting.api, other.token, 'thief');
  const beat = { workerId, status: 'busy', tasks: [{ taskId: id, claimToken }] };
  expect((await hosting.api.post('/api/worker/heartbeat', beat, other)).body.cancelTaskIds).toEqual([id]);
  const own = await hosting.api.post(`/api/worker/tasks/${id}/extend`, { claimToken }, tenant);
  expect([own.status, own.body.leaseExpiresAt >= leaseExpiresAt]).toEqual([200, true]);
});

test('a token for some types of tasks registers for no other one and claims none', async () => {
  const tenant = await makeTenant(hosting.api);
  await labelIssue(hosting.api, tenant.repo, 1);
  const { store } = hosting.api.owner;
  const token = await makeToken(store, tenant.id, null, { taskTypes: ['review', 'merge'] });
  const put = (taskTypes: string[]) => hosting.api.post('/api/worker/register', { name: 'r', taskTypes }, { token });
  expect((await put(['review', 'analyze'])).body).toMatchObject({
    code: 'INVALID_BODY',
    error: expect.stringContaining('the token may not claim analyze tasks'),
  });
  const { workerId } = (await put(['review'])).body;
  const claim = (taskTypes: string[]) => hosting.api.post('/api/worker/claim', { workerId, taskTypes }, { token });
  expect((await claim(['analyze'])).status).toBe(204);
  expect((await claim(['analyze', 'review'])).status).toBe(204);
  expect((await claimWith(tenant.token, [])).body.task.taskType).toBe('analyze');
});
