import { beforeAll, describe, expect, test } from '@jest/globals';
import { hostedSurface, parameterProblems, routesWithParameters } from '@pipeline/contract';
import { mintConnection } from '../support/connections.ts';
import { labelIssue, makeTenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('parameters', () => {
  let authorization: string;

  beforeAll(async () => {
    const { api, database } = hosting;
    const tenant = await makeTenant(api, 'acme/shop');
    await labelIssue(api, tenant.repo, 7);
    authorization = `Bearer ${(await mintConnection(database.owner, { tenantId: tenant.id, role: 'owner' })).token}`;
  });

  async function probe(path: string) {
    const answer = await hosting.api.fetch(hosting.api.url + path, { headers: { authorization } });
    const { code } = (await answer.json()) as { code?: string };
    return { status: answer.status, code };
  }

  test.each(routesWithParameters(hostedSurface).map((route) => [route.id, route] as const))(
    'accepts and refuses every text of every parameter as the document says: %s',
    async (_id, route) => {
      expect(await parameterProblems(hostedSurface, route, probe)).toEqual([]);
    },
  );

  test.each([
    ['repo=acme/shop&repo=acme/shop', 'repo is given 2 times; give it once'],
    ['repo=acme/shop&state=blocked&state=blocked&state=open', 'state is given 3 times; give it once'],
  ])('refuses a parameter that is given more than once: %s', async (query, error) => {
    const answer = await hosting.api.fetch(`${hosting.api.url}/api/cli/issues?${query}`, {
      headers: { authorization },
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error }]);
  });
});
