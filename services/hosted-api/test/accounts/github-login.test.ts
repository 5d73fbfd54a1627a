import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { auditEntries } from '@pipeline/store';
import { ANNA, openPage, submitForm } from '@pipeline/testing/sandbox';
import { logIn, type Person } from '../oauth/oauth-world.ts';
import { heading, testProviders } from './provider-world.ts';

const { env, world, link, begin, identities } = testProviders();
const { database } = world.hosting;

describe('a login by GitHub', () => {
  const passGithub = async (at: URL, fields: Record<string, string>) => {
    const asked = await submitForm(await openPage(at.href), fields);
    if (asked.location === null) throw new Error(asked.text);
    return new URL(asked.location);
  };
  const anna = { decision: 'authorize', token: ANNA.token };
  let annasId = '';
  beforeAll(async () => {
    const { data } = await env.github.api('GET', '/user', undefined, ANNA.token);
    annasId = String((data as { id: number }).id);
  });
  beforeEach(async () => {
    await database.db.deleteFrom('user_identities').execute();
  });

  test('begins a session of the user that the numeric id is linked to', async () => {
    const person = await world.person('acme');
    await link(person, annasId, env.github.sandbox.url);
    const { browser, at } = await begin('/account/login/github/start');
    expect(at.searchParams.get('scope')).toBeNull();
    await browser.open((await passGithub(at, anna)).href);
    expect(browser.text).toContain(person.email);
    expect(await identities()).toMatchObject([{ issuer: env.github.sandbox.url, subject: annasId, name: ANNA.login }]);
  });

  test('names issuer and id when the account is not linked', async () => {
    const { browser, at } = await begin('/account/login/github/start');
    await browser.open((await passGithub(at, anna)).href);
    expect([browser.status, heading(browser)]).toEqual([403, 'This account is not connected']);
    expect(browser.text).toContain(`<code>${annasId}</code>`);
  });

  test('says that it was cancelled when the person cancels', async () => {
    const { browser, at } = await begin('/account/login/github/start');
    await browser.open((await passGithub(at, { decision: 'cancel' })).href);
    expect([browser.status, heading(browser)]).toEqual([403, 'Not logged in']);
  });

  test.each([['POST /login/oauth/access_token'], ['GET /user']])(
    'says that GitHub failed when %s does',
    async (request) => {
      const [method = '', path = ''] = request.split(' ');
      const { browser, at } = await begin('/account/login/github/start');
      const callback = await passGithub(at, anna);
      env.github.sandbox.failNext({ status: 500, match: { method, path } });
      await browser.open(callback.href);
      expect([browser.status, heading(browser)]).toEqual([503, 'The login did not work']);
    },
  );

  test('is connected by a logged-in user, once for all users, and removed again', async () => {
    const [person, other] = [await world.person('acme'), await world.person('acme')];
    const connect = async (who: Person) => {
      const browser = world.browser();
      await browser.open('/account/login');
      await logIn(browser, who);
      await browser.open('/account/logins');
      const at = await browser.submit('/account/logins/github/connect', {});
      if (!at) throw new Error(browser.text);
      await browser.open((await passGithub(at, anna)).href);
      return browser;
    };
    const browser = await connect(person);
    expect([browser.status, heading(browser)]).toEqual([200, 'Ways to log in']);
    expect(browser.text).toContain('The account was connected');
    expect(browser.headers.get('content-security-policy')).not.toContain('form-action');
    const refused = await connect(other);
    expect([refused.status, refused.text.includes('linked to another user')]).toEqual([400, true]);
    expect(await identities()).toMatchObject([{ user_id: person.id, subject: annasId }]);
    await browser.open('/account/logins');
    await browser.submit('/account/logins/remove', {});
    expect(browser.text).toContain('The account was removed');
    expect(await identities()).toEqual([]);
    const actions = (await auditEntries(database.db, 2)).map(({ action, subject, actor_id }) => [
      action,
      subject,
      actor_id,
    ]);
    expect(actions).toEqual([
      ['identity-unlink', `user ${person.email}`, 'hosted-api'],
      ['identity-link', `user ${person.email}`, 'hosted-api'],
    ]);
  });

  test('is not removed when it is the only way to log in', async () => {
    const person = await world.person('acme');
    await link(person, annasId, env.github.sandbox.url);
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    await browser.open('/account/logins');
    await database.db.updateTable('users').set({ password_hash: null }).where('id', '=', person.id).execute();
    await browser.submit('/account/logins/remove', {});
    expect([browser.status, browser.text.includes('your only way to log in')]).toEqual([400, true]);
    expect(browser.text).not.toContain('action="/account/logins/remove"');
    expect(await identities()).toHaveLength(1);
  });
});
