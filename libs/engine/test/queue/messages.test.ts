import { expect, test } from '@jest/globals';
import { progress, reclaimExpired, recordMessages } from '@pipeline/engine';
import { refOf, take } from '../harness.ts';
import { Stage } from '../stage.ts';

const bench = new Stage();

const messageOf = (sequence: number, content: string) => ({
  invocationIndex: 0,
  sequence,
  role: 'assistant',
  subtype: 'text',
  toolName: null,
  content,
});
const stored = () =>
  bench.database.db
    .selectFrom('agent_messages')
    .select(['sequence', 'content', 'truncated'])
    .where('tenant_id', '=', bench.tenantId)
    .orderBy('sequence')
    .execute();

test('counts the messages that were stored, without repeated ones', async () => {
  const ref = refOf(bench, await take(bench));
  expect(await recordMessages(bench.engine, ref, [messageOf(0, 'a'), messageOf(1, 'b')])).toBe(2);
  expect(await recordMessages(bench.engine, ref, [messageOf(1, 'b'), messageOf(2, 'c')])).toBe(1);
  expect(await recordMessages(bench.engine, ref, [])).toBe(0);
  expect((await stored()).map(({ content }) => content)).toEqual(['a', 'b', 'c']);
});

test('keeps the messages of each attempt when the next one counts from the start again', async () => {
  const lost = refOf(bench, await take(bench));
  await recordMessages(bench.engine, lost, [messageOf(0, 'a'), messageOf(1, 'b')]);
  bench.pass(61);
  await reclaimExpired(bench.engine);
  const next = refOf(bench, await take(bench));
  expect(next.taskId).toBe(lost.taskId);
  expect(await recordMessages(bench.engine, next, [messageOf(0, 'c')])).toBe(1);
  expect(await recordMessages(bench.engine, next, [messageOf(0, 'c'), messageOf(1, 'd')])).toBe(1);
  expect((await stored()).map(({ content }) => content)).toEqual(['a', 'b', 'c', 'd']);
});

test('stores a message once when the worker numbers attempts itself', async () => {
  await take(bench);
  bench.pass(61);
  await reclaimExpired(bench.engine);
  const ref = refOf(bench, await take(bench));
  const items = [messageOf(1_000_000, 'a'), messageOf(1_000_001, 'b')];
  expect(await recordMessages(bench.engine, ref, items)).toBe(2);
  expect(await recordMessages(bench.engine, ref, items)).toBe(0);
  expect((await stored()).map(({ sequence }) => sequence)).toEqual([1_000_000, 1_000_001]);
});

test('cuts a long message before a character that would be split', async () => {
  const ref = refOf(bench, await take(bench));
  const start = 'a'.repeat(65_535);
  await recordMessages(bench.engine, ref, [messageOf(0, `${start}\u{1f600} and more`), messageOf(1, `${start}b`)]);
  expect(await stored()).toEqual([
    { sequence: 0, content: start, truncated: true },
    { sequence: 1, content: `${start}b`, truncated: false },
  ]);
});

test('stores the beginning of what a tool got and gave, and no details of progress, when they have more than 65,536 characters', async () => {
  const ref = refOf(bench, await take(bench));
  const most = { text: 'é'.repeat(65_525) };
  const more = { text: 'é'.repeat(65_526) };
  const tools = { toolInput: most, toolOutput: more };
  await recordMessages(bench.engine, ref, [{ ...messageOf(0, ''), ...tools }]);
  for (const details of [most, more])
    await progress(bench.engine, ref, { status: 'goes on', details, invocations: [] });
  const message = await bench.database.db
    .selectFrom('agent_messages')
    .select(['tool_input', 'tool_output', 'truncated'])
    .where('tenant_id', '=', bench.tenantId)
    .executeTakeFirst();
  const cut = JSON.stringify(more).slice(0, 65_536);
  expect(message).toEqual({ tool_input: most, tool_output: cut, truncated: true });
  const events = bench.database.db.selectFrom('issue_events').select('details').where('status', '=', 'goes on');
  expect(await events.orderBy('id').execute()).toEqual([{ details: most }, { details: null }]);
});
