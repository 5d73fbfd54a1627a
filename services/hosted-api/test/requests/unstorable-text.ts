import { beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyRoute, hostedSurface } from '@pipeline/contract';
import { type UnstorableRequest, unstorableRequests } from '@pipeline/contract-tests/unstorable-requests';
import { type Minted, mintConnection } from '../support/connections.ts';
import { makeTenant, type Tenant } from '../support/hosted.ts';
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
});
