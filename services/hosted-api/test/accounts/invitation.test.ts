/** Invitations by link: made and revoked by an administrator, accepted in the browser by a new user or a known one. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { admin } from '@pipeline/engine';
import { auditEntries } from '@pipeline/store';
import { logIn, PASSWORD, testOauth } from '../oauth/oauth-world.ts';

const world = testOauth();
const { database } = world.hosting;
const by = (): admin.Admin => ({
  engine: {
    store: database.owner,
    notify: () => undefined,
    settings: () => DEFAULT_SETTINGS,
    random: () => 0,
  },
  actor: 'olga',
  reason: null,
});

let serial = 0;
let email: string;
let org: string;
beforeEach(async () => {
  serial += 1;
  email = `new-${serial}@example.org`;
  org = `guests-${serial}`;
  await admin.createOrg(by(), { id: org, name: `Guests ${serial}` });
});

const invite = (more: Partial<Parameters<typeof admin.inviteMember>[1]> = {}) =>
  admin.inviteMember(by(), { org, email, role: 'admin', days: 7, ...more });
const pathOf = (token: string) => `/account/invitation?token=${token}`;
const members = async () =>
  (
    await database.db
      .selectFrom('memberships as m')
      .innerJoin('tenants as t', 't.id', 'm.tenant_id')
      .innerJoin('users as u', 'u.id', 'm.user_id')
      .select(['u.email', 'm.role'])
      .where('t.external_id', '=', org)
      .execute()
  ).map(({ email: address, role }) => `${address} ${role}`);
const open = async (token: string) => {
  const browser = world.browser();
  await browser.open(pathOf(token));
  return browser;
};
const NEW = { as: 'new', name: 'Nora', password: PASSWORD };

describe('an invitation', () => {
  test('makes a new user a member, once, and logs the user in', async () => {
    const { token, id } = await invite();
    const browser = await open(token);
    expect(browser.text).toContain(`Join Guests ${serial}`);
    expect(browser.text).toContain(email);
    await browser.submit('/account/invitation', NEW);
    expect([browser.status, new URL(browser.url).pathname]).toEqual([200, '/']);
    expect(await members()).toEqual([`${email} admin`]);
    await browser.open('/account/connections');
    expect(browser.text).toContain(email);
    const [entry] = (await auditEntries(database.db, 20)).filter(({ action }) => action === 'invitation-accept');
    expect(entry).toMatchObject({
      actor_type: 'user',
      actor_id: email,
      subject: `invitation ${id} of org ${org}`,
      details: { email, newUser: true, role: 'admin' },
    });
    const again = await open(token);
    expect([again.status, again.text.includes('This invitation cannot be used')]).toEqual([404, true]);
    const later = world.browser();
    await later.open('/account/login');
    await later.submit('/account/login', { email, password: PASSWORD });
    expect(later.text).toContain(email);
  });

  test('makes a logged-in user a member, with the role of the invitation', async () => {
    const person = await world.person('acme');
    const { token } = await invite({ role: 'member' });
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    await browser.open(pathOf(token));
    expect(browser.text).toContain(`You are logged in as ${person.email}`);
    await browser.submit('/account/invitation', { as: 'account' });
    expect(await members()).toEqual([`${person.email} member`]);
  });

  test('leads through the login and back', async () => {
    const person = await world.person('acme');
    const { token } = await invite();
    const browser = await open(token);
    const [, link = ''] = /href="(\/account\/login[^"]*)"/.exec(browser.text) ?? [];
    await browser.open(link.replaceAll('&amp;', '&'));
    await logIn(browser, person);
    expect(new URL(browser.url).pathname).toBe('/account/invitation');
    await browser.submit('/account/invitation', { as: 'account' });
    expect(await members()).toEqual([`${person.email} admin`]);
  });

  test('leaves the role of a person who is a member already', async () => {
    const person = await world.person(org);
    const { token } = await invite({ role: 'owner' });
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    await browser.open(pathOf(token));
    await browser.submit('/account/invitation', { as: 'account' });
    expect(await members()).toEqual([`${person.email} member`]);
    expect(await admin.listInvitations(by(), org)).toMatchObject([{ state: 'accepted' }]);
  });

  test('does not open an existing account for a stranger with the link', async () => {
    const person = await world.person('acme');
    const { token } = await invite({ email: person.email.toUpperCase() });
    const browser = await open(token);
    await browser.submit('/account/invitation', { ...NEW, password: 'another password' });
    expect([browser.status, browser.text.includes('Log in with it to join')]).toEqual([400, true]);
    expect(await members()).toEqual([]);
    await browser.open('/account/connections');
    expect(browser.text).toContain('Log in to Pipeline');
    expect(await admin.listInvitations(by(), org)).toMatchObject([{ state: 'open' }]);
  });

  test.each([
    [{ name: ' ' }, 'Enter your name'],
    [{ password: 'short' }, 'The password must have'],
  ])('keeps the invitation when the form has %j', async (wrong, words) => {
    const { token } = await invite();
    const browser = await open(token);
    await browser.submit('/account/invitation', { ...NEW, ...wrong });
    expect([browser.status, browser.text.includes(words)]).toEqual([400, true]);
    expect(await members()).toEqual([]);
    await browser.submit('/account/invitation', NEW);
    expect(await members()).toEqual([`${email} admin`]);
  });

  test('only one of two people who accept an invitation at once uses it', async () => {
    const { token } = await invite();
    const people = await Promise.all([world.person('acme'), world.person('acme')]);
    const browsers = await Promise.all(
      people.map(async (person) => {
        const browser = world.browser();
        await browser.open('/account/login');
        await logIn(browser, person);
        await browser.open(pathOf(token));
        return browser;
      }),
    );
    await Promise.all(browsers.map((browser) => browser.submit('/account/invitation', { as: 'account' })));
    expect(browsers.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await members()).toHaveLength(1);
  });

  test('reads the same when it is unknown, malformed, revoked, used or expired', async () => {
    const [revoked, used, expired] = [
      await invite({ email: 'revoked@example.org' }),
      await invite(),
      await invite({ email: 'expired@example.org' }),
    ];
    await admin.revokeInvitation(by(), { org, id: revoked.id });
    await (await open(used.token)).submit('/account/invitation', NEW);
    await database.db
      .updateTable('invitations')
      .set({ expires_at: '2020-01-01T00:00:00Z' })
      .where('id', '=', expired.id)
      .execute();
    const tokens = ['x'.repeat(43), 'short', '', revoked.token, used.token, expired.token];
    const pages = await Promise.all(tokens.map(open));
    expect(new Set(pages.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(pages[0]?.status).toBe(404);
    expect((await admin.listInvitations(by(), org)).map(({ state }) => state).sort()).toEqual([
      'accepted',
      'expired',
      'revoked',
    ]);
  });

  test('ignores a form of another site', async () => {
    const person = await world.person('acme');
    const { token } = await invite();
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ token, as: 'account', form_token: 'x'.repeat(43) }).toString();
    await browser.open('/account/invitation', { method: 'POST', headers, body });
    expect(browser.status).toBe(403);
    expect(await members()).toEqual([]);
  });

  test('stores an invitation without its token', async () => {
    const { token } = await invite();
    const rows = await database.db.selectFrom('invitations').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test.each([
    [{ role: 'king' }, /role must be one of/],
    [{ email: 'nobody' }, /not an email address/],
    [{ days: 0 }, /--days must be 1 to 30/],
    [{ days: 31 }, /--days must be 1 to 30/],
    [{ org: 'nowhere' }, /nowhere/],
  ])('creates no invitation for %j', async (wrong, words) => {
    await expect(invite(wrong)).rejects.toThrow(words);
    expect(await admin.listInvitations(by(), org)).toEqual([]);
  });

  test('revokes an invitation once, and not after it was accepted', async () => {
    const { id } = await invite();
    await admin.revokeInvitation(by(), { org, id });
    await expect(admin.revokeInvitation(by(), { org, id })).rejects.toThrow(/no open invitation/);
  });
});
