import { expect, test } from '@jest/globals';
import { recordMessages } from '@pipeline/engine';
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

test('cuts a long message before a character that would be split', async () => {
  const ref = refOf(bench, await take(bench));
  const start = 'a'.repeat(65_535);
  await recordMessages(bench.engine, ref, [messageOf(0, `${start}\u{1f600} and more`), messageOf(1, `${start}b`)]);
  expect(await stored()).toEqual([
    { sequence: 0, content: start, truncated: true },
    { sequence: 1, content: `${start}b`, truncated: false },
  ]);
});
