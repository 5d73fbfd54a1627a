import { describe, expect, test } from '@jest/globals';
import { auditEntries } from '@pipeline/store';
import { connect, logIn, refresh } from './oauth-world.ts';
import { world } from './world.ts';

const { database } = world.hosting;

/** Entries of a connection or of a user, oldest first. */
const entriesOf = async (subject: string) =>
  (await auditEntries(database.db, 100))
    .filter((entry) => entry.subject === subject)
    .map(({ action, actor_type, actor_id, details }) => [action, actor_type, actor_id, details])
    .reverse();

const connectionOf = async (clientId: string) => {
  const query = database.db.selectFrom('oauth_connections').select('id').where('client_id', '=', clientId);
  return (await query.executeTakeFirstOrThrow()).id;
};

describe('the audit of the hosted API', () => {
  test('records a login and a logout with their user when a browser sends the forms', async () => {
    const person = await world.person('acme');
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    await browser.submit('/account/logout', {});
    expect(await entriesOf(`user ${person.email}`)).toEqual([
      ['login', 'user', person.email, { method: 'password', address: '127.0.0.1' }],
      ['logout', 'user', person.email, {}],
    ]);
  });

  test('records a consent and its end when the user gives and ends it', async () => {
    const { clientId, person } = await connect(world);
    const id = await connectionOf(clientId);
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    await browser.open(`/account/connections/${id}/end`);
    await browser.submit(`/account/connections/${id}/revoke`, {});
    expect(await entriesOf(`connection ${id} of user ${person.email} in org acme`)).toEqual([
      ['connection-create', 'user', person.email, { clientId, name: 'Reader' }],
    ]);
    expect(await entriesOf(`connection ${id}`)).toEqual([['connection-revoke', 'user', person.email, { clientId }]]);
  });

  test('records the end of a connection once when a refresh token is used again', async () => {
    const { clientId, refresh: token } = await connect(world);
    await refresh(world, clientId, token);
    await refresh(world, clientId, token);
    await refresh(world, clientId, token);
    expect(await entriesOf(`connection ${await connectionOf(clientId)}`)).toEqual([
      ['connection-revoke', 'system', 'hosted-api', { clientId }],
    ]);
  });

  test('records the program as the actor when it revokes its token', async () => {
    const { clientId, refresh: token } = await connect(world);
    await world.fetch(`${world.front.url}/oauth/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${new URLSearchParams({ client_id: clientId, token })}`,
    });
    expect(await entriesOf(`connection ${await connectionOf(clientId)}`)).toEqual([
      ['connection-revoke', 'client', clientId, { clientId }],
    ]);
  });
});
