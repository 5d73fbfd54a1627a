import { beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyRoute, hostedSurface, isRawBody } from '@pipeline/contract';
import { type Minted, mintConnection } from '../support/connections.ts';
import { makeTenant, type Tenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('encoded bodies', () => {
  const routes = hostedSurface.routes.filter(({ body }) => body !== undefined);

  let tenant: Tenant;
  let ann: Minted;
  beforeAll(async () => {
    tenant = await makeTenant(hosting.api);
    ann = await mintConnection(hosting.database.owner, { tenantId: tenant.id, role: 'owner' });
  });

  const isGuarded = ({ auth }: AnyRoute): boolean => auth === 'worker' || auth === 'connection';

  const tokenFor = ({ auth }: AnyRoute): string | null =>
    auth === 'worker' ? tenant.token : auth === 'connection' ? ann.token : null;

  /** Sends plain text that claims to be encoded. @returns the status; the client throws for undeclared answers. */
  async function send(route: AnyRoute, encoding: string, token: string | null): Promise<number> {
    const answer = await hosting.api.fetch(hosting.api.url + route.path.replaceAll(/\{\w+\}/g, '1'), {
      method: route.method.toUpperCase(),
      headers: {
        'content-type': isRawBody(route.body) ? route.body.type : 'application/json',
        'content-encoding': encoding,
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: '{}',
      redirect: 'manual',
    });
    await answer.text();
    return answer.status;
  }

  test.each([
    ['a plain body that claims to be compressed', 'gzip', 400],
    ['an unknown encoding', 'snappy', 415],
  ])('%s is refused by every route', async (_what, encoding, refused) => {
    expect(routes.length).toBeGreaterThan(12);
    const wrong = await Promise.all(
      routes.map(async (route) => {
        const status = await send(route, encoding, tokenFor(route));
        // Nothing is inflated for a caller who is not authenticated; forms and signatures may be refused before.
        const isRefused = isGuarded(route) ? status === refused : [401, 403, 415].includes(status);
        return isRefused ? [] : [`${status} ${route.id}`];
      }),
    );
    expect(wrong.flat()).toEqual([]);
  });

  test.each(['gzip', 'snappy'])('a body in %s changes nothing of the refusal without credentials', async (encoding) => {
    const guarded = routes.filter(isGuarded);
    const statuses = await Promise.all(guarded.map((route) => send(route, encoding, null)));
    expect(new Set(statuses)).toEqual(new Set([401]));
  });
});
