import { expect, test } from '@jest/globals';
import { authorizeUrl, CALLBACK, connect, decide, logIn, redeem, refresh } from './oauth-world.ts';
import { world } from './world.ts';

test('a program gets tokens for what a person lets it read, whichever replica is asked', async () => {
  const person = await world.person('acme');
  const clientId = await world.program();
  const browser = world.browser();
  await browser.open(authorizeUrl(world, clientId));
  expect(browser.text).toContain('Log in');
  expect(await logIn(browser, person)).toBeNull();
  expect(browser.text).toContain('Allow Reader to read your pipeline?');
  const callback = await decide(browser, 'allow');
  expect(`${callback.origin}${callback.pathname}`).toBe(CALLBACK);
  expect(callback.searchParams.get('state')).toBe('abc');
  expect(callback.searchParams.get('iss')).toBe(world.front.url);
  const tokens = await redeem(world, clientId, callback.searchParams.get('code') ?? '');
  expect(tokens.body).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'pipeline:read' });
  expect(tokens.access).toMatch(/^mcp_at_[\w-]{43}$/);
  expect(tokens.refresh).toMatch(/^mcp_rt_[\w-]{43}$/);
  expect(await world.call(tokens.access)).toBe(200);
  expect(await world.call(tokens.refresh)).toBe(401);
  for (const count of world.front.counts()) expect(count).toBeGreaterThan(2);
});

test('a refresh token is good once; its second use ends the connection with all its tokens', async () => {
  const first = await connect(world);
  const second = await refresh(world, first.clientId, first.refresh);
  expect([second.status, await world.call(first.access), await world.call(second.access)]).toEqual([200, 200, 200]);
  expect((await refresh(world, first.clientId, first.refresh)).error).toBe('invalid_grant');
  expect([await world.call(first.access), await world.call(second.access)]).toEqual([401, 401]);
  expect((await refresh(world, first.clientId, second.refresh)).error).toBe('invalid_grant');
});
