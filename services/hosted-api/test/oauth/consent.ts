import { describe, expect, test } from '@jest/globals';
import { until } from '@pipeline/testing';
import { sql } from 'kysely';
import { authorizeUrl, codeFor, connect, decide, logIn, redeem } from './oauth-world.ts';
import { world } from './world.ts';

const { database } = world.hosting;

const connectionOf = (clientId: string) =>
  database.db.selectFrom('oauth_connections').selectAll().where('client_id', '=', clientId).execute();

/** A browser in front of the consent. */
const asked = async (person: Awaited<ReturnType<typeof world.person>>, metadata: Record<string, unknown> = {}) => {
  const clientId = await world.program(metadata);
  const browser = world.browser();
  await browser.open(authorizeUrl(world, clientId));
  await logIn(browser, person);
  return { browser, clientId, path: new URL(browser.url).pathname };
};

describe('the consent', () => {
  test('asks a member of several organisations which one, and connects that one', async () => {
    const person = await world.person('acme', 'globex');
    const { browser, clientId, path } = await asked(person);
    expect(browser.text).toMatch(/<fieldset>\s*<legend>Which organisation may it read\?/);
    await browser.submit(`${path}/confirm`, { decision: 'allow' });
    expect([browser.status, browser.text.includes('Choose an organisation')]).toEqual([400, true]);
    const callback = await decide(browser, 'allow', 'globex');
    const tokens = await redeem(world, clientId, callback.searchParams.get('code') ?? '');
    expect(await world.call(tokens.access)).toBe(200);
    expect((await connectionOf(clientId)).map((row) => row.tenant_id)).toEqual([person.tenantIds[1]]);
  });

  test('connects no organisation that the user is no member of', async () => {
    await world.person('initech');
    const { browser, clientId, path } = await asked(await world.person('acme'));
    await browser.submit(`${path}/confirm`, { decision: 'allow', organisation: 'initech' });
    expect(browser.status).toBe(400);
    expect(await connectionOf(clientId)).toEqual([]);
  });

  test('offers no consent when there is nothing to connect', async () => {
    const person = await world.person('acme');
    await database.db.deleteFrom('memberships').where('user_id', '=', person.id).execute();
    const { browser } = await asked(person);
    expect(browser.text).toContain('belongs to no organisation');
    expect(browser.text).not.toContain('value="allow"');
  });

  test('a refused consent redirects to the program with an error and creates no connection', async () => {
    const { browser, clientId } = await asked(await world.person('acme'));
    const callback = await decide(browser, 'deny');
    expect(callback.searchParams.get('error')).toBe('access_denied');
    expect(callback.searchParams.get('iss')).toBe(world.front.url);
    expect(await connectionOf(clientId)).toEqual([]);
  });

  test('shows the name of a program as text, and where it sends people', async () => {
    const name = '<img src=x onerror=alert(1)> & "Co"';
    const redirect_uris = ['https://reader.example.org/cb'];
    const clientId = await world.program({ client_name: name, redirect_uris });
    const browser = world.browser();
    await browser.open(authorizeUrl(world, clientId, { redirect_uri: redirect_uris[0] }));
    await logIn(browser, await world.person('acme'));
    expect(browser.text).not.toContain('<img');
    expect(browser.text).toContain('&lt;img src=x onerror=alert(1)&gt; &amp; &quot;Co&quot;');
    expect(browser.text).toContain('<strong>reader.example.org</strong>');
  });

  test('a consent belongs to the browser in which it began', async () => {
    const { browser, path } = await asked(await world.person('acme'));
    const other = world.browser();
    await other.open(path);
    expect([other.status, other.text.includes('This request is over')]).toEqual([400, true]);
    expect((await decide(browser, 'allow')).searchParams.get('code')).toBeTruthy();
  });

  test('a consent is given once', async () => {
    const { browser, clientId, path } = await asked(await world.person('acme'));
    const page = browser.text;
    await decide(browser, 'allow');
    browser.text = page;
    await browser.submit(`${path}/confirm`, { decision: 'allow' });
    expect([browser.status, browser.text.includes('This request is over')]).toEqual([400, true]);
    expect(await connectionOf(clientId)).toHaveLength(1);
  });

  test('a consent that is sent several times at once creates one connection, and cannot be refused afterwards', async () => {
    const { browser, clientId, path } = await asked(await world.person('acme'));
    const tabs = [browser.tab(), browser.tab(), browser.tab(), browser.tab()];
    const send = (decision: string) => tabs.pop()?.submit(`${path}/confirm`, { decision });
    const answers = await Promise.all([send('allow'), send('allow'), send('allow')]);
    expect(answers.filter((callback) => callback !== null)).toHaveLength(1);
    expect(await send('deny')).toBeNull();
    expect(await connectionOf(clientId)).toHaveLength(1);
  });

  test('a consent that is continued several times at once gives one code', async () => {
    const { browser, path } = await asked(await world.person('acme'));
    browser.stopBefore = '/oauth/authorize/';
    const resume = String(await browser.submit(`${path}/confirm`, { decision: 'allow', organisation: 'acme' }));
    const tabs = [browser.tab(), browser.tab(), browser.tab()];
    // Each has read the request before one of them can end it.
    const opened = await database.db.transaction().execute(async (tx) => {
      await tx.selectFrom('oauth_artifacts').select('uid').where('model', '=', 'Interaction').forUpdate().execute();
      const opening = Promise.all(tabs.map((tab) => tab.open(resume)));
      await until('all wait to end the request', async () => {
        const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(database.db);
        return rows[0]?.n === tabs.length;
      });
      return { opening };
    });
    const callbacks = await opened.opening;
    expect(callbacks.filter((callback) => callback?.searchParams.has('code'))).toHaveLength(1);
  });

  test('returns the state of a program with a question mark as it was sent', async () => {
    const clientId = await world.program();
    const browser = world.browser();
    await browser.open(authorizeUrl(world, clientId, { state: 'STATE' }).replace('STATE', '/x?next=1'));
    await logIn(browser, await world.person('acme'));
    expect((await decide(browser, 'allow')).searchParams.get('state')).toBe('/x?next=1');
  });

  test('cannot be given by a form that another site made', async () => {
    const { browser, clientId, path } = await asked(await world.person('acme'));
    await browser.submit(`${path}/confirm`, { decision: 'allow', form_token: 'A'.repeat(43) });
    expect(browser.status).toBe(403);
    expect(await connectionOf(clientId)).toEqual([]);
  });

  test('can be given by another user after a change of account in the same browser', async () => {
    const [first, second] = [await world.person('acme'), await world.person('globex')];
    const { browser, clientId, path } = await asked(first);
    await browser.submit('/account/logout', {});
    expect(browser.text).toContain('Log in');
    await logIn(browser, second);
    expect(new URL(browser.url).pathname).toBe(path);
    const callback = await decide(browser, 'allow');
    expect((await redeem(world, clientId, callback.searchParams.get('code') ?? '')).status).toBe(200);
    expect((await connectionOf(clientId)).map((row) => row.user_id)).toEqual([second.id]);
    // The library keeps no session of its own, which would still be the second one's.
    await browser.open(authorizeUrl(world, clientId));
    await browser.submit('/account/logout', {});
    await logIn(browser, first);
    expect((await decide(browser, 'allow')).searchParams.get('code')).toBeTruthy();
    expect((await connectionOf(clientId)).map((row) => row.user_id).sort()).toEqual([first.id, second.id].sort());
  });

  test('requests a consent each time, and never without interaction', async () => {
    const person = await world.person('acme');
    const { clientId } = await connect(world, { person });
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    await browser.open(authorizeUrl(world, clientId));
    expect(browser.text).toContain('Allow Reader to read your pipeline?');
    const silent = await browser.open(authorizeUrl(world, clientId, { prompt: 'none' }));
    expect(silent?.searchParams.get('error')).toBe('login_required');
  });

  test('pages forbid frames and scripts; only this one lets forms lead elsewhere', async () => {
    const { browser } = await asked(await world.person('acme'));
    const consent = browser.headers.get('content-security-policy') ?? '';
    expect(consent).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'$/);
    await browser.open('/account/connections');
    expect(browser.headers.get('content-security-policy')).toBe(`${consent}; form-action 'self'`);
    expect(browser.headers.get('cache-control')).toBe('no-store');
    expect(browser.headers.get('referrer-policy')).toBe('same-origin');
  });
});

describe('your connections', () => {
  const list = async (person: Awaited<ReturnType<typeof world.person>>) => {
    const browser = world.browser();
    await browser.open('/account/login');
    await logIn(browser, person);
    return browser;
  };

  test('lists connections with their program and organisation, and ends one when that is confirmed', async () => {
    const person = await world.person('acme');
    const [kept, ended] = [await connect(world, { person }), await connect(world, { person })];
    const browser = await list(person);
    expect(browser.text.match(/End this connection/g)).toHaveLength(2);
    expect(browser.text).toContain('<dd>acme</dd>');
    const [row] = await connectionOf(ended.clientId);
    await browser.open(`/account/connections/${row?.id}/end`);
    expect(await browser.submit(`/account/connections/${row?.id}/revoke`, {})).toBeNull();
    expect(browser.text).toContain('The connection was ended');
    expect(browser.text.match(/End this connection/g)).toHaveLength(1);
    expect([await world.call(kept.access), await world.call(ended.access)]).toEqual([200, 401]);
    expect((await connectionOf(ended.clientId))[0]?.revoked_reason).toBe('user');
  });

  test('neither shows nor ends connections of others', async () => {
    const [mine, other] = [await world.person('acme'), await world.person('acme')];
    const { access, clientId } = await connect(world, { person: other });
    const [row] = await connectionOf(clientId);
    await connect(world, { person: mine });
    const browser = await list(mine);
    expect(browser.text).not.toContain(row?.id ?? '?');
    const own = /\/account\/connections\/(conn_[\w-]+)\/end/.exec(browser.text)?.[1] ?? '';
    await browser.open(`/account/connections/${own}/end`);
    browser.text = browser.text.replaceAll(own, row?.id ?? '');
    await browser.submit(`/account/connections/${row?.id}/revoke`, {});
    expect(await world.call(access)).toBe(200);
  });

  test('requires a login', async () => {
    const browser = world.browser();
    await browser.open('/account/connections');
    expect(browser.text).toContain('<h1>Log in to Pipeline</h1>');
  });
});

test('a code that waits longer than a minute is of no use', async () => {
  const clientId = await world.program();
  const code = await codeFor(world, clientId, await world.person('acme'));
  try {
    database.clock.now = new Date(Date.now() + 61_000);
    expect((await redeem(world, clientId, code)).error).toBe('invalid_grant');
  } finally {
    database.clock.now = null;
  }
});
