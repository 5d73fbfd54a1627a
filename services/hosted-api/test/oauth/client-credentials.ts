import { describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { admin } from '@pipeline/engine';
import { revokeConnection } from '@pipeline/store';
import * as oauth from 'openid-client';
import type { Person } from './oauth-world.ts';
import { world } from './world.ts';

const { database } = world.hosting;

const by = (): admin.Admin => ({
  engine: { store: database.owner, notify: () => undefined, settings: () => DEFAULT_SETTINGS, random: () => 0.5 },
  actor: 'root',
  reason: null,
});

async function credentialsOf(person: Person, expires = '90d') {
  return admin.createCredentials(by(), { org: 'acme', email: person.email, name: 'CI', expires });
}

type Credentials = Awaited<ReturnType<typeof credentialsOf>>;

const tokenFor = ({ clientId, clientSecret }: Credentials, more: Record<string, string> = {}) =>
  world.token({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, ...more });

describe('client credentials', () => {
  test.each([
    ['in the body', oauth.ClientSecretPost],
    ['as Basic', oauth.ClientSecretBasic],
  ])('give openid-client an access token with the secret %s', async (_, method) => {
    const { clientId, clientSecret } = await credentialsOf(await world.person('acme'));
    const options = { algorithm: 'oauth2' as const, execute: [oauth.allowInsecureRequests] };
    const config = await oauth.discovery(new URL(world.front.url), clientId, {}, method(clientSecret), options);
    const answer = await oauth.clientCredentialsGrant(config, { scope: 'pipeline:read' });
    expect(answer).toMatchObject({ token_type: 'bearer', expires_in: 600, scope: 'pipeline:read' });
    expect(answer).not.toHaveProperty('refresh_token');
    expect(await world.call(answer.access_token)).toBe(200);
  });

  test('need no parameters besides, and may be used again and at once', async () => {
    const credentials = await credentialsOf(await world.person('acme'));
    const answers = await Promise.all(Array.from({ length: 8 }, () => tokenFor(credentials)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ access }) => access)).size).toBe(8);
    const { access_token: _token, ...described } = (await tokenFor(credentials)).body;
    expect(described).toEqual({ token_type: 'Bearer', expires_in: 600, scope: 'pipeline:read' });
    const [one] = await admin.listConnections(by(), { org: 'acme', email: null });
    expect(one).toMatchObject({ id: credentials.id, client: 'CI', live: true, lastUsedAt: expect.anything() });
  });

  test.each(['admin', 'offline_access'])('refuses credentials for the scope %s alone', async (scope) => {
    const answer = await tokenFor(await credentialsOf(await world.person('acme')), { scope });
    expect([answer.status, answer.error]).toEqual([400, 'invalid_scope']);
  });

  test('refuses credentials with a wrong secret, and without one', async () => {
    const credentials = await credentialsOf(await world.person('acme'));
    const wrong = await tokenFor({ ...credentials, clientSecret: `${credentials.clientSecret}x` });
    expect([wrong.status, wrong.error]).toEqual([401, 'invalid_client']);
    const none = await world.token({ grant_type: 'client_credentials', client_id: credentials.clientId });
    expect([none.status, none.error]).toEqual([401, 'invalid_client']);
    const hash = database.db.selectFrom('oauth_clients').select('metadata').where('id', '=', credentials.clientId);
    const { metadata } = await hash.executeTakeFirstOrThrow();
    expect(JSON.stringify(metadata)).not.toContain(credentials.clientSecret);
    const { client_secret: stored } = metadata as { client_secret: string };
    expect((await tokenFor({ ...credentials, clientSecret: stored })).status).toBe(401);
  });

  test('end with their connection, tokens included', async () => {
    const credentials = await credentialsOf(await world.person('acme'));
    const { access } = await tokenFor(credentials);
    await revokeConnection(database.store.db, credentials.id, 'user');
    expect(await world.call(access)).toBe(401);
    const after = await tokenFor(credentials);
    expect([after.status, after.error]).toEqual([401, 'invalid_client']);
  });

  test('end when their user leaves the organisation', async () => {
    const person = await world.person('acme');
    const credentials = await credentialsOf(person);
    const { access } = await tokenFor(credentials);
    await admin.removeMember(by(), { org: 'acme', email: person.email });
    expect(await world.call(access)).toBe(401);
    expect((await tokenFor(credentials)).status).toBe(401);
  });

  test('end at their expiry', async () => {
    const credentials = await credentialsOf(await world.person('acme'), '2d');
    const { access } = await tokenFor(credentials);
    await database.db
      .updateTable('oauth_connections')
      .set({ expires_at: new Date(0).toISOString() })
      .where('id', '=', credentials.id)
      .execute();
    expect(await world.call(access)).toBe(401);
    expect((await tokenFor(credentials)).status).toBe(401);
  });

  test('revoke a token, as their own client only, and give another one then', async () => {
    const credentials = await credentialsOf(await world.person('acme'));
    const { access } = await tokenFor(credentials);
    const revoke = (parameters: Record<string, string>) =>
      world.fetch(`${world.front.url}/oauth/revoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `${new URLSearchParams({ token: access, ...parameters })}`,
      });
    await revoke({ client_id: await world.program() });
    expect(await world.call(access)).toBe(200);
    const answer = await revoke({ client_id: credentials.clientId, client_secret: credentials.clientSecret });
    expect(answer.status).toBe(200);
    expect(await world.call(access)).toBe(401);
    expect(await world.call((await tokenFor(credentials)).access)).toBe(200);
  });

  test('refuses the grant to programs that register themselves', async () => {
    const clientId = await world.program({ grant_types: ['client_credentials'] });
    const answer = await world.token({ grant_type: 'client_credentials', client_id: clientId });
    expect([answer.status, answer.error]).toEqual([400, 'invalid_request']);
  });

  test('open no authorization in a browser', async () => {
    const { clientId } = await credentialsOf(await world.person('acme'));
    const browser = world.browser();
    await browser.open(
      `${world.front.url}/oauth/authorize?client_id=${clientId}&response_type=code&redirect_uri=http://127.0.0.1/`,
    );
    expect(browser.status).toBe(400);
  });
});

describe('creating client credentials', () => {
  test.each([
    ['a user who is no member', { org: 'acme', name: 'CI', expires: '90d', other: true }, /is not a member of acme/],
    ['a time that has passed', { org: 'acme', name: 'CI', expires: '2020-01-01' }, /--expires must be in the future/],
    ['a name without a visible character', { org: 'acme', name: ' \u200b', expires: '90d' }, /visible character/],
  ])(
    'refuses %s',
    async (_, { other, ...wanted }: { org: string; name: string; expires: string; other?: boolean }, message) => {
      await world.person('acme');
      const { email } = await world.person(other ? 'elsewhere' : 'acme');
      await expect(admin.createCredentials(by(), { ...wanted, email })).rejects.toThrow(message);
    },
  );
});
