/** The device flow (RFC 8628): programs without a browser, at two replicas. */
import { describe, expect, test } from '@jest/globals';
import { decideDeviceCode, liveConnectionsOf } from '@pipeline/store';
import { until } from '@pipeline/testing';
import type { Browser } from '../accounts/browser.ts';
import { pipelineCommands } from '../accounts/pipeline-command.ts';
import { CALLBACK, logIn, type Person, refresh } from './oauth-world.ts';
import { world } from './world.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CONFIRM = '/account/device/confirm';

const pipelineCommand = pipelineCommands();
const { database } = world.hosting;

const connectionsOf = ({ id }: Person) => liveConnectionsOf(database.store.db, id);

interface Codes {
  device_code: string;
  user_code: string;
  verification_uri: string;
}

async function requestCodes(
  clientId: string,
  more = '',
): Promise<{ status: number; body: Codes & { error?: string } }> {
  const answer = await world.fetch(`${world.front.url}/oauth/device`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `client_id=${clientId}${more}`,
  });
  return { status: answer.status, body: (await answer.json()) as Codes };
}

/** A program with a device code, and its token request. */
async function device(name = 'Terminal') {
  const grants = ['authorization_code', 'refresh_token', DEVICE_GRANT];
  const clientId = await world.program({ client_name: name, grant_types: grants });
  const { status, body } = await requestCodes(clientId);
  expect(status).toBe(200);
  const poll = () => world.token({ grant_type: DEVICE_GRANT, client_id: clientId, device_code: body.device_code });
  return { clientId, userCode: body.user_code, uri: body.verification_uri, poll };
}

/** A browser of a person at the page for codes. */
async function atDevicePage(person: Person): Promise<Browser> {
  const browser = world.browser();
  await browser.open(`${world.front.url}/account/device`);
  await logIn(browser, person);
  expect([browser.status, new URL(browser.url).pathname]).toEqual([200, '/account/device']);
  return browser;
}

const enter = (browser: Browser, userCode: string) => browser.submit('/account/device', { user_code: userCode });

describe('the device flow', () => {
  test('gives tokens when a person enters the code and allows it', async () => {
    const { clientId, userCode, uri, poll } = await device();
    expect([uri, userCode]).toEqual([
      `${world.front.url}/account/device`,
      expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
    ]);
    expect((await poll()).error).toBe('authorization_pending');
    const person = await world.person('acme');
    const browser = await atDevicePage(person);
    await enter(browser, ` ${userCode.toLowerCase().replace('-', '')} `);
    expect(browser.text).toContain('Allow Terminal to read your pipeline?');
    expect(browser.text).toContain('Refuse if somebody sent it to you');
    await browser.submit(CONFIRM, { decision: 'allow' });
    expect([browser.status, browser.text]).toEqual([200, expect.stringContaining('Terminal is connected')]);
    const tokens = await poll();
    expect([tokens.status, await world.call(tokens.access)]).toEqual([200, 200]);
    expect((await refresh(world, clientId, tokens.refresh)).status).toBe(200);
    expect(await connectionsOf(person)).toEqual([expect.objectContaining({ clientName: 'Terminal' })]);
  });

  test('ends the connection when the device code is used twice', async () => {
    const { userCode, poll } = await device();
    const person = await world.person('acme');
    const browser = await atDevicePage(person);
    await enter(browser, userCode);
    await browser.submit(CONFIRM, { decision: 'allow' });
    const { access } = await poll();
    expect((await poll()).error).toBe('invalid_grant');
    expect([await world.call(access), await connectionsOf(person)]).toEqual([401, []]);
  });

  test('reports access_denied when the person refuses', async () => {
    const { userCode, poll } = await device();
    const person = await world.person('acme');
    const browser = await atDevicePage(person);
    await enter(browser, userCode);
    await browser.submit(CONFIRM, { decision: 'deny' });
    expect(browser.text).toContain('Terminal is not connected');
    expect([(await poll()).error, await connectionsOf(person)]).toEqual(['access_denied', []]);
  });

  test('takes one decision for a code, and leaves no other connection', async () => {
    const { userCode, poll } = await device();
    const [ann, bob] = [await world.person('acme'), await world.person('acme')];
    const [first, second] = [await atDevicePage(ann), await atDevicePage(bob)];
    await enter(first, userCode);
    await enter(second, userCode);
    await Promise.all([first, second].map((browser) => browser.submit(CONFIRM, { decision: 'allow' })));
    expect([first.status, second.status].sort()).toEqual([200, 400]);
    const winner = first.status === 200 ? ann : bob;
    expect(await connectionsOf(winner)).toHaveLength(1);
    expect(await connectionsOf(winner === ann ? bob : ann)).toEqual([]);
    expect((await poll()).status).toBe(200);
  });

  test('records one of two decisions that are made at the same time', async () => {
    const { userCode, poll } = await device();
    const refusal = { error: 'access_denied', errorDescription: 'the user refused' };
    const decide = () => decideDeviceCode(database.store.db, userCode.replace('-', ''), refusal);
    expect((await Promise.all([decide(), decide()])).sort()).toEqual([false, true]);
    expect((await poll()).error).toBe('access_denied');
  });

  test('asks for the organisation when the person has several', async () => {
    const { userCode, poll } = await device();
    const person = await world.person('acme', 'globex');
    const browser = await atDevicePage(person);
    await enter(browser, userCode);
    await browser.submit(CONFIRM, { decision: 'allow', organisation: 'initech' });
    expect([browser.status, browser.text]).toEqual([400, expect.stringContaining('Choose an organisation')]);
    await browser.submit(CONFIRM, { decision: 'allow', organisation: 'globex' });
    expect((await poll()).status).toBe(200);
    expect(await connectionsOf(person)).toEqual([expect.objectContaining({ organisation: 'globex' })]);
  });
});

describe('a code', () => {
  test.each(['ABCD-EFGH', '', "'; --", 'x'.repeat(5_000)])('refuses a code that is not known: %j', async (code) => {
    const browser = await atDevicePage(await world.person('acme'));
    await enter(browser, code);
    expect([browser.status, browser.text]).toEqual([400, expect.stringContaining('There is no such code')]);
  });

  test('gives no code for another scope', async () => {
    const clientId = await world.program({ grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT] });
    const { status, body } = await requestCodes(clientId, '&scope=admin');
    expect([status, body.error]).toEqual([400, 'invalid_scope']);
  });

  test('refuses a code that has expired', async () => {
    const { userCode, poll } = await device();
    await database.db
      .updateTable('oauth_artifacts')
      .set({ expires_at: new Date(0).toISOString() })
      .where('uid', '=', userCode.replace('-', ''))
      .execute();
    const browser = await atDevicePage(await world.person('acme'));
    await enter(browser, userCode);
    expect([browser.status, (await poll()).error]).toEqual([400, 'invalid_grant']);
  });

  test('cannot be guessed: the entries of a person are limited', async () => {
    const browser = await atDevicePage(await world.person('acme'));
    for (let entry = 0; entry < 20; entry += 1) {
      await enter(browser, 'ABCD-EFGH');
      expect(browser.status).toBe(400);
    }
    await enter(browser, 'ABCD-EFGH');
    expect(browser.status).toBe(429);
  });

  test('ignores a code in the address of the page', async () => {
    const { userCode, uri } = await device();
    const browser = await atDevicePage(await world.person('acme'));
    await browser.open(`${uri}?user_code=${userCode}`);
    expect([browser.status, browser.text.includes(userCode)]).toEqual([200, false]);
  });

  test('only a form of this session decides about a code', async () => {
    const { userCode, poll } = await device();
    const browser = await atDevicePage(await world.person('acme'));
    await enter(browser, userCode);
    await browser.submit(CONFIRM, { decision: 'allow', form_token: 'another' });
    expect([browser.status, (await poll()).error]).toEqual([403, 'authorization_pending']);
    const stranger = world.browser();
    await stranger.open(CONFIRM, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `user_code=${userCode}&decision=allow`,
    });
    expect(new URL(stranger.url).pathname).toBe('/account/login');
  });

  test('gives no code to a program that did not register for it', async () => {
    const { status, body } = await requestCodes(await world.program({ redirect_uris: [CALLBACK] }));
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });
});

test('`pipeline login --device` logs in without a browser on its machine', async () => {
  const pipeline = pipelineCommand();
  const person = await world.person('acme');
  const command = pipeline.start('login', '--host', world.front.url, '--device');
  const code = /enter the code ([A-Z]{4}-[A-Z]{4})/;
  await until('a code is shown', () => code.test(command.output.stderr));
  const browser = await atDevicePage(person);
  await enter(browser, code.exec(command.output.stderr)?.[1] ?? '');
  await browser.submit(CONFIRM, { decision: 'allow' });
  expect((await command.ended).code).toBe(0);
  expect(await pipeline.json('org')).toMatchObject({ viewer: { login: person.email } });
});
