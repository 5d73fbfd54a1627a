import { expect, test } from '@jest/globals';
import { makeTenant, register } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

test.each([
  ['no JSON', '{', 'INVALID_JSON', 'Invalid JSON'],
  ['a field is missing', { name: 'w' }, 'INVALID_BODY', 'taskTypes is required'],
  ['a type is unknown', { name: 'w', taskTypes: ['dance'] }, 'INVALID_BODY', 'taskTypes.0'],
  ['a repo is no slug', { name: 'w', taskTypes: ['plan'], repos: ['x'] }, 'INVALID_BODY', 'owner/name'],
])('a body is refused by name when %s', async (_what, body, code, text) => {
  const { token } = await makeTenant(hosting.api);
  const answer = await hosting.api.post('/api/worker/register', body, { token });
  expect([answer.status, answer.body.code]).toEqual([400, code]);
  expect(answer.body.error).toContain(text);
});

test.each([
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
])('a body is refused when it nests %s deeper than 64 levels', async (_what, open, close) => {
  const { token } = await makeTenant(hosting.api);
  const nested = (depth: number) => {
    const details = `${open.repeat(depth)}${open === '[' ? '' : '1'}${close.repeat(depth)}`;
    const claimToken = '0198c5a4-7c1e-7000-8000-000000000001';
    const body = `{"claimToken":"${claimToken}","status":"\\"[[{{","details":{"x":${details}}}`;
    return hosting.api.post('/api/worker/tasks/t/progress', body, { token });
  };
  for (const depth of [63, 10_000, 20_000]) {
    expect([depth, (await nested(depth)).body.code]).toEqual([depth, 'INVALID_JSON']);
  }
  expect((await nested(62)).body.code).toBe('CLAIM_LOST');
});

test('a wait beyond thirty seconds is refused', async () => {
  const { token } = await makeTenant(hosting.api);
  const workerId = await register(hosting.api, token);
  const body = { workerId, taskTypes: ['plan'], waitMs: 30_001 };
  expect((await hosting.api.post('/api/worker/claim', body, { token })).body.code).toBe('INVALID_BODY');
});

test('a body that is too large is refused, and messages may be large', async () => {
  const { token } = await makeTenant(hosting.api);
  const large = 'x'.repeat(300_000);
  const refused = await hosting.api.post('/api/worker/register', { name: large, taskTypes: ['plan'] }, { token });
  expect([refused.status, refused.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  const message = { invocationIndex: 0, sequence: 0, role: 'user', subtype: 'text', content: large };
  const claimToken = '0198c5a4-7c1e-7000-8000-000000000001';
  const taken = await hosting.api.post('/api/worker/tasks/t/messages', { claimToken, items: [message] }, { token });
  expect(taken.body.code).toBe('CLAIM_LOST');
});
