/** The web application flow of an OAuth app. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ANNA,
  createSandboxEnvironment,
  openPage,
  type SandboxEnvironment,
  submitForm,
} from '@pipeline/testing/sandbox';

const CALLBACK = 'http://127.0.0.1:9/callback';
const CLIENT = { clientId: 'Ov23client', clientSecret: 'secret of the client' };
const VERIFIER = 'v'.repeat(43);
let environment: SandboxEnvironment;
let clock = () => new Date();
beforeAll(async () => {
  environment = await createSandboxEnvironment({
    oauthApps: [{ name: 'Reader', ...CLIENT, callbackUrl: CALLBACK }],
    now: () => clock(),
  });
});
afterAll(() => environment.end());

const ask = (more: Record<string, string> = {}) => {
  const challenge = createHash('sha256').update(VERIFIER).digest('base64url');
  const query = new URLSearchParams({
    client_id: CLIENT.clientId,
    redirect_uri: CALLBACK,
    state: 's1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  });
  return openPage(`${environment.sandbox.url}/login/oauth/authorize?${query}`);
};
const authorize = async (more?: Record<string, string>) => {
  const { location } = await submitForm(await ask(more), { decision: 'authorize', token: ANNA.token });
  return new URL(location ?? '');
};
const exchange = async (code: string, more: Record<string, string> = {}) => {
  const body = new URLSearchParams({
    client_id: CLIENT.clientId,
    client_secret: CLIENT.clientSecret,
    code,
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    ...more,
  });
  const headers = { accept: 'application/json' };
  const answer = await fetch(`${environment.sandbox.url}/login/oauth/access_token`, { method: 'POST', headers, body });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, string>;
};
const codeOf = async () => (await authorize()).searchParams.get('code') ?? '';

describe('an OAuth app', () => {
  test('gets a token that reads the profile and nothing else when the person authorizes it', async () => {
    const callback = await authorize();
    expect(`${callback.origin}${callback.pathname}`).toBe(CALLBACK);
    expect(callback.searchParams.get('state')).toBe('s1');
    const code = callback.searchParams.get('code') ?? '';
    const answer = await exchange(code);
    expect(answer).toEqual({ access_token: expect.stringMatching(/^gho_/), scope: '', token_type: 'bearer' });
    const token = answer.access_token;
    expect(await environment.api('GET', '/user', undefined, token)).toMatchObject({
      status: 200,
      data: { login: 'anna' },
    });
    expect((await environment.api('GET', '/api/v3/user', undefined, token)).status).toBe(200);
    for (const path of ['/repos/acme/shop', '/users/anna', '/user/installations'])
      expect((await environment.api('GET', path, undefined, token)).status).toBe(401);
    expect(await exchange(code)).toMatchObject({ error: 'bad_verification_code' });
  });

  test('refuses the exchange when secret, verifier or callback differ, or the code is ten minutes old', async () => {
    expect(await exchange(await codeOf(), { client_secret: 'another' })).toMatchObject({
      error: 'incorrect_client_credentials',
    });
    expect(await exchange(await codeOf(), { code_verifier: 'w'.repeat(43) })).toMatchObject({
      error: 'bad_verification_code',
    });
    expect(await exchange(await codeOf(), { redirect_uri: `${CALLBACK}/other` })).toMatchObject({
      error: 'redirect_uri_mismatch',
    });
    const late = await codeOf();
    clock = () => new Date(Date.now() + 601_000);
    try {
      expect(await exchange(late)).toMatchObject({ error: 'bad_verification_code' });
    } finally {
      clock = () => new Date();
    }
  });

  test('receives an error when the person cancels, and no redirect leads to another callback', async () => {
    const cancelled = await submitForm(await ask(), { decision: 'cancel' });
    expect(cancelled.location).toMatch(/error=access_denied.*state=s1/);
    for (const redirect_uri of ['http://evil.example/callback', 'http://127.0.0.1:9/callbacks', 'javascript:1'])
      expect((await ask({ redirect_uri })).location).toMatch(
        /^http:\/\/127\.0\.0\.1:9\/callback\?error=redirect_uri_mismatch/,
      );
    expect((await ask({ redirect_uri: `${CALLBACK}/deeper` })).status).toBe(200);
    expect((await ask({ code_challenge_method: 'plain' })).location).toMatch(/error=invalid_request/);
    expect((await ask({ client_id: 'nobody' })).status).toBe(404);
    const wrong = await submitForm(await ask(), { decision: 'authorize', token: 'wrong' });
    expect([wrong.status, wrong.text.includes('Bad credentials')]).toEqual([401, true]);
  });
});
