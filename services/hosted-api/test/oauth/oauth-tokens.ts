import { describe, expect, test } from '@jest/globals';
import { hashTokenBytes } from '@pipeline/engine';
import { revokeConnection } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { sql } from 'kysely';
import { authorizeUrl, codeFor, connect, redeem, refresh, VERIFIER } from './oauth-world.ts';
import { world } from './world.ts';

const { database } = world.hosting;

const reasonsOf = async (clientId: string) => {
  const rows = database.db.selectFrom('oauth_connections').select('revoked_reason').where('client_id', '=', clientId);
  return (await rows.execute()).map((row) => row.revoked_reason);
};

const revoke = (clientId: string, token: string) =>
  world.fetch(`${world.front.url}/oauth/revoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams({ client_id: clientId, token })}`,
  });

describe('a refresh that fails', () => {
  test('a refresh that fails for its resource leaves the refresh token valid', async () => {
    const { clientId, refresh: token } = await connect(world);
    const wrong = await refresh(world, clientId, token, { resource: 'https://elsewhere.example.org/api' });
    expect([wrong.status, wrong.error]).toEqual([400, 'invalid_target']);
    const right = await refresh(world, clientId, token, { resource: world.resource });
    expect(right.status).toBe(200);
    expect(await reasonsOf(clientId)).toEqual([null]);
  });

  test('because the store failed half-way leaves it as good as it was', async () => {
    const { clientId, refresh: token } = await connect(world);
    await sql`alter table oauth_tokens add constraint broken check (kind <> 'AccessToken') not valid`.execute(
      database.db,
    );
    const failed = await refresh(world, clientId, token);
    await sql`alter table oauth_tokens drop constraint broken`.execute(database.db);
    expect([failed.status, failed.error]).toEqual([500, 'server_error']);
    expect((await refresh(world, clientId, token)).status).toBe(200);
  });
});

/** Runs requests that have all found a token unused before one of them uses it: its row is locked until they wait for it. */
async function atOnce<T>(token: string, requests: readonly (() => Promise<T>)[]): Promise<T[]> {
  let answers: Promise<T[]> | undefined;
  await database.db.transaction().execute(async (tx) => {
    await tx.selectFrom('oauth_tokens').select('hash').where('hash', '=', hashTokenBytes(token)).forUpdate().execute();
    answers = Promise.all(requests.map((request) => request()));
    await until('all wait for the token', async () => {
      const { rows } = await sql`select from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%oauth_tokens%'`.execute(database.db);
      return rows.length === requests.length;
    });
  });
  return answers ?? [];
}

describe('a refresh token that is used by two requests at once', () => {
  test('gives tokens to one of them, and ends the connection', async () => {
    const { clientId, refresh: token } = await connect(world);
    const use = () => refresh(world, clientId, token);
    const answers = await atOnce(token, [use, use]);
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status);
    expect([won?.status, lost?.status, lost?.error]).toEqual([200, 400, 'invalid_grant']);
    expect(await reasonsOf(clientId)).toEqual(['reuse']);
    expect(await world.call(won?.access ?? '')).toBe(401);
    expect((await refresh(world, clientId, won?.refresh ?? '')).error).toBe('invalid_grant');
  });

  test('the request for another resource fails and the other one gets the tokens', async () => {
    const { clientId, refresh: token } = await connect(world);
    const wrong = () => refresh(world, clientId, token, { resource: 'https://elsewhere.example.org/api' });
    const right = () => refresh(world, clientId, token);
    // Whichever comes first: the wrong one does not use the token up.
    const [failed, good] = await atOnce(token, [wrong, right]);
    expect(good?.status).toBe(200);
    expect(failed?.status).toBe(400);
  });
});

describe('a refresh token that is used many times at once', () => {
  test('gives tokens to one of them, and all get an answer', async () => {
    const { clientId, refresh: token } = await connect(world);
    const answers = await Promise.all(Array.from({ length: 40 }, () => refresh(world, clientId, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ error }) => error))).toEqual(
      new Set(['invalid_grant']),
    );
    expect(await reasonsOf(clientId)).toEqual(['reuse']);
  });

  test('a repeated use of a refresh token that was used before ends the connection, and every request is answered', async () => {
    const { clientId, refresh: token } = await connect(world);
    const second = await refresh(world, clientId, token);
    const answers = await Promise.all(Array.from({ length: 40 }, () => refresh(world, clientId, token)));
    expect(new Set(answers.map(({ error }) => error))).toEqual(new Set(['invalid_grant']));
    expect(await reasonsOf(clientId)).toEqual(['reuse']);
    expect(await world.call(second.access)).toBe(401);
  });
});

test('no token outlives a revocation that comes while it is refreshed', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { clientId, refresh: token, person } = await connect(world);
    const { id } = await database.db
      .selectFrom('oauth_connections')
      .select('id')
      .where('client_id', '=', clientId)
      .executeTakeFirstOrThrow();
    const [answer] = await Promise.all([
      refresh(world, clientId, token),
      revokeConnection(database.store.db, id, 'user', person.id),
    ]);
    if (answer.status !== 200) continue;
    expect(await world.call(answer.access)).toBe(401);
    expect((await refresh(world, clientId, answer.refresh)).error).toBe('invalid_grant');
  }
});

describe('an authorization code', () => {
  test('a code is good once; its second use ends the connection', async () => {
    const person = await world.person('acme');
    const clientId = await world.program();
    const code = await codeFor(world, clientId, person);
    const tokens = await redeem(world, clientId, code);
    expect(tokens.status).toBe(200);
    expect((await redeem(world, clientId, code)).error).toBe('invalid_grant');
    expect(await world.call(tokens.access)).toBe(401);
    expect(await reasonsOf(clientId)).toEqual(['reuse']);
  });

  test.each([
    ['the wrong verifier', { code_verifier: 'w'.repeat(64) }],
    ['no verifier', { code_verifier: '' }],
    ['another redirect', { redirect_uri: 'http://127.0.0.1:1/callback' }],
  ])('refuses a code with %s, and does not use it up', async (_what, more) => {
    const clientId = await world.program();
    const code = await codeFor(world, clientId, await world.person('acme'));
    expect((await redeem(world, clientId, code, more)).error).toBe('invalid_grant');
    expect((await redeem(world, clientId, code)).status).toBe(200);
  });

  test('a code is of no use to another program', async () => {
    const [mine, other] = [await world.program(), await world.program()];
    const code = await codeFor(world, mine, await world.person('acme'));
    expect((await redeem(world, other, code)).error).toBe('invalid_grant');
  });

  test.each([
    ['without a challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['with a plain challenge', { code_challenge: VERIFIER, code_challenge_method: 'plain' }],
  ])('gives no code %s', async (_what, more) => {
    const browser = world.browser();
    expect(await browser.open(authorizeUrl(world, await world.program(), more))).toBeNull();
    expect([browser.status, browser.text.includes('<code>invalid_request')]).toEqual([400, true]);
  });
});

describe('revocation by the program', () => {
  test.each(['access', 'refresh'] as const)(
    'revoking the %s token ends the whole connection at once',
    async (which) => {
      const tokens = await connect(world);
      expect((await revoke(tokens.clientId, tokens[which])).status).toBe(200);
      expect(await world.call(tokens.access)).toBe(401);
      expect((await refresh(world, tokens.clientId, tokens.refresh)).error).toBe('invalid_grant');
      expect(await reasonsOf(tokens.clientId)).toEqual(['client']);
    },
  );

  test('answers alike for tokens that do not exist, and does nothing for those of others', async () => {
    const tokens = await connect(world);
    expect((await revoke(tokens.clientId, `mcp_at_${'x'.repeat(43)}`)).status).toBe(200);
    expect((await revoke(await world.program(), tokens.access)).status).toBe(200);
    expect(await world.call(tokens.access)).toBe(200);
  });
});

test('two connections of one person and program live and end apart', async () => {
  const person = await world.person('acme');
  const first = await connect(world, { person });
  const second = await connect(world, { person, clientId: first.clientId });
  await revoke(first.clientId, first.refresh);
  expect([await world.call(first.access), await world.call(second.access)]).toEqual([401, 200]);
});

test('a user who is disabled or removed gets no new tokens', async () => {
  const [disabled, removed] = [await connect(world), await connect(world)];
  await database.db
    .updateTable('users')
    .set({ disabled_at: new Date().toISOString() })
    .where('id', '=', disabled.person.id)
    .execute();
  await database.db.deleteFrom('memberships').where('user_id', '=', removed.person.id).execute();
  for (const { clientId, refresh: token } of [disabled, removed])
    expect((await refresh(world, clientId, token)).error).toBe('invalid_grant');
});

test('the store contains no value that would let a reader in', async () => {
  const { clientId, access, refresh: token } = await connect(world);
  const code = await codeFor(world, clientId, await world.person('acme'));
  const pending = world.browser();
  await pending.open(authorizeUrl(world, clientId));
  const { rows } = await sql<{ text: string }>`
    select t::text as text from oauth_tokens t union all select c::text from oauth_connections c
    union all select payload::text from oauth_artifacts union all select s::text from user_sessions s`.execute(
    database.db,
  );
  const stored = rows.map((row) => row.text).join('\n');
  for (const secret of [access, token, code]) {
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(secret.slice(7));
  }
});

test.each([{ resource: undefined }, { scope: undefined }, { scope: 'pipeline:read offline_access' }])(
  'a request with %j gets the one resource and the one scope',
  async (more) => {
    const clientId = await world.program();
    const person = await world.person('acme');
    const browser = world.browser();
    await browser.open(authorizeUrl(world, clientId, more));
    await browser.submit('/account/login', { email: person.email, password: 'correct horse battery staple' });
    const callback = await browser.submit(`${new URL(browser.url).pathname}/confirm`, { decision: 'allow' });
    const tokens = await redeem(world, clientId, callback?.searchParams.get('code') ?? '');
    expect(tokens.body.scope).toBe('pipeline:read');
    expect(await world.call(tokens.access)).toBe(200);
  },
);

test('other spellings of the API are understood, other APIs are not', async () => {
  for (const resource of [`${world.resource}/`, `${world.resource}/mcp`]) {
    const clientId = await world.program();
    const code = await codeFor(world, clientId, await world.person('acme'));
    expect((await redeem(world, clientId, code, { resource })).status).toBe(200);
    expect(await world.browser().open(authorizeUrl(world, clientId, { resource }))).toBeNull();
  }
  const foreign = authorizeUrl(world, await world.program(), { resource: 'https://elsewhere.example.org/api' });
  const browser = world.browser();
  expect(await browser.open(foreign)).toBeNull();
  expect([browser.status, browser.text.includes('<code>invalid_target')]).toEqual([400, true]);
});

test('an unknown scope is refused before the consent page', async () => {
  const browser = world.browser();
  await browser.open(authorizeUrl(world, await world.program(), { scope: 'offline_access' }));
  const person = await world.person('acme');
  const password = 'correct horse battery staple';
  expect(await browser.submit('/account/login', { email: person.email, password })).toBeNull();
  expect([browser.status, browser.text.includes('<code>invalid_scope')]).toEqual([400, true]);
});
