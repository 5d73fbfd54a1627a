import { beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyRoute, hostedSurface } from '@pipeline/contract';
import { type UnstorableRequest, unstorableRequests } from '@pipeline/contract-tests/unstorable-requests';
import { sql } from 'kysely';
import { type Minted, mintConnection } from '../support/connections.ts';
import { labelIssue, makeTenant, register, type Tenant, WORK } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('unstorable text', () => {
  /** Fields of the forms, which are declared as bytes. */
  const FORMS = {
    logIn: ['email', 'password', 'form_token', 'return_to'],
    logOut: ['form_token', 'return_to'],
    endConnection: ['form_token'],
    decideConsent: ['form_token', 'decision', 'organisation'],
    token: ['grant_type', 'client_id', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'resource'],
    revokeToken: ['token', 'client_id'],
  };

  let tenant: Tenant;
  let ann: Minted;
  beforeAll(async () => {
    tenant = await makeTenant(hosting.api);
    ann = await mintConnection(hosting.database.owner, { tenantId: tenant.id, role: 'owner' });
  });

  const tokenFor = ({ auth }: AnyRoute): string | null =>
    auth === 'worker' ? tenant.token : auth === 'connection' ? ann.token : null;

  async function send({ route, method, path, body, type }: UnstorableRequest): Promise<number> {
    const token = tokenFor(route);
    const headers = { ...(type && { 'content-type': type }), ...(token && { authorization: `Bearer ${token}` }) };
    const init = { method, headers, redirect: 'manual' as const, ...(body !== undefined && { body }) };
    // The client throws for answers that are not declared.
    const answer = await hosting.api.fetch(hosting.api.url + path, init);
    await answer.text();
    return answer.status;
  }

  test('NUL and unpaired surrogates in any text of any route get a declared answer, never a failure', async () => {
    const requests = hostedSurface.routes.flatMap((route) => [...unstorableRequests(route, FORMS)]);
    expect(requests.length).toBeGreaterThan(150);
    const wrong: string[] = [];
    for (const request of requests) {
      const status = await send(request);
      if (status >= 500) wrong.push(`${status} ${request.route.id} ${request.where}`);
    }
    expect(wrong).toEqual([]);
  });

  test('a number of a report is stored in at most 22 digits when Postgres would write hundreds', async () => {
    const { api, database } = hosting;
    await labelIssue(api, tenant.repo, 1);
    const workerId = await register(api, tenant.token);
    const claimed = await api.post('/api/worker/claim', { workerId, taskTypes: WORK }, tenant);
    const { id, claimToken } = claimed.body.task;
    const details = `{"large": 1e308, "small": [-1E+300, 1e-300], "plain": ${'9'.repeat(300)}, "half": 0.5}`;
    const body = `{"claimToken": "${claimToken}", "status": "figures", "details": ${details}}`;
    expect((await api.post(`/api/worker/tasks/${id}/progress`, body, tenant)).status).toBe(200);
    const { rows } = await sql`select details::text as text from issue_events where status = 'figures'`.execute(
      database.db,
    );
    const most = `1${'0'.repeat(21)}`;
    expect(rows).toEqual([{ text: `{"half": 0.5, "large": ${most}, "plain": ${most}, "small": [-${most}, 0]}` }]);
  });
});
