import { describe, expect, test } from '@jest/globals';
import { hashToken } from '@pipeline/engine';
import { findWorkerScope, revokeWorkerToken } from '@pipeline/store';
import { labelIssue, makeTenant, makeToken, type Tenant, testHosted, WORK } from '../support/hosted.ts';

const clock = { now: new Date() };
const hosting = testHosted({ now: () => clock.now });
const { database } = hosting;

const post = (path: string, body: object, token: string) => hosting.api.post(`/api/worker/${path}`, body, { token });
const registerAs = (token: string, name = 'builder') => post('register', { name, taskTypes: WORK }, token);

/** A worker with a claim, and a second token of its tenant that reaches no repo of it. */
async function twoTokens(): Promise<{ tenant: Tenant; workerId: string; beat: object; other: string }> {
  const tenant = await makeTenant(hosting.api);
  await labelIssue(hosting.api, tenant.repo, 1);
  const { workerId } = (await registerAs(tenant.token)).body;
  const { task } = (await post('claim', { workerId, taskTypes: WORK }, tenant.token)).body;
  const tasks = [{ taskId: task.id, claimToken: task.claimToken }];
  const other = await makeToken(hosting.api.context.engine.store, tenant.id, []);
  return { tenant, workerId, beat: { workerId, status: 'busy', tasks }, other };
}

describe('the name of a worker', () => {
  test('is refused to another token, whose registration would take the claims back', async () => {
    const { tenant, beat, other } = await twoTokens();
    const { status, body } = await registerAs(other);
    expect([status, body.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect(body.error).toContain('builder');
    expect((await post('heartbeat', beat, tenant.token)).body.cancelTaskIds).toEqual([]);
  });

  test('is the same worker for the same token', async () => {
    const { tenant, workerId } = await twoTokens();
    expect((await registerAs(tenant.token)).body.workerId).toBe(workerId);
  });

  test('goes over to the next token once its own is revoked, and back to nobody', async () => {
    const { tenant, workerId, other } = await twoTokens();
    const scope = await findWorkerScope(database.store.tenant, hashToken(tenant.token));
    await revokeWorkerToken(database.store.tenant, scope?.tokenId ?? '');
    expect((await registerAs(other)).body.workerId).toBe(workerId);
    const third = await makeToken(database.store, tenant.id, null);
    expect((await registerAs(third)).status).toBe(403);
  });

  test('is free where another token has another name, and in another tenant', async () => {
    const { other } = await twoTokens();
    expect((await registerAs(other, 'tester')).status).toBe(200);
    const elsewhere = await makeTenant(hosting.api);
    expect((await registerAs(elsewhere.token)).status).toBe(200);
  });

  test('goes to one of two tokens that ask for it at the same moment', async () => {
    const tenant = await makeTenant(hosting.api);
    const tokens = [
      tenant.token,
      ...(await Promise.all([1, 2, 3].map(() => makeToken(database.store, tenant.id, null)))),
    ];
    const answers = await Promise.all(tokens.map((token) => registerAs(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403]);
  });

  test('from before tokens were noted goes to the first that registers it', async () => {
    const { tenant, workerId, other } = await twoTokens();
    await database.db.updateTable('workers').set({ token_id: null }).where('tenant_id', '=', tenant.id).execute();
    expect((await post('heartbeat', { workerId, status: 'idle' }, tenant.token)).status).toBe(200);
    expect((await registerAs(other)).body.workerId).toBe(workerId);
    expect((await registerAs(tenant.token)).status).toBe(403);
  });
});

describe('the id of a worker', () => {
  test.each(['idle', 'leaving'])('gives another token no right to say that it is %s', async (status) => {
    const { tenant, workerId, beat, other } = await twoTokens();
    const answer = await post('heartbeat', { workerId, status }, other);
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
    expect((await post('heartbeat', beat, tenant.token)).body.cancelTaskIds).toEqual([]);
  });

  test('gives another token no right to claim for it', async () => {
    const { tenant, workerId } = await twoTokens();
    const wide = await makeToken(database.store, tenant.id, null);
    await labelIssue(hosting.api, tenant.repo, 2);
    expect((await post('claim', { workerId, taskTypes: WORK }, wide)).status).toBe(404);
  });
});
