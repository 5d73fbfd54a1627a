/** pipeline-agent as it is started in a checkout. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { BOT, SLUG } from '../replicas/host.ts';
import { database, done, folder, host, openIssue, startAgent, startedStack, writing } from './stack.ts';

startedStack();

test('npx in a checkout moves an issue to a merge on the host with a scripted agent, with its transcript and costs', async () => {
  const { output } = startAgent(writing('docs/list.md'), 'agent-1', ['npx', '--no-install', 'pipeline-agent']);
  const number = await openIssue('A list of all things');
  await done(number, output);
  const [pull] = await host().api<{ title: string; merged_at: string | null; user: { login: string } }[]>(
    'GET',
    `/repos/${SLUG}/pulls?state=closed`,
  );
  expect(pull).toMatchObject({ title: 'Add the list', merged_at: expect.any(String) });
  const clone = join(folder, 'clone');
  // The host runs in this process.
  await promisify(execFile)('git', [
    'clone',
    '-q',
    `${host().sandbox.url.replace('//', `//x:${BOT.token}@`)}/${SLUG}.git`,
    clone,
  ]);
  expect(readFileSync(join(clone, 'docs/list.md'), 'utf8')).toBe('# List\n');
  const { db } = database;
  const messages = await db.selectFrom('agent_messages').select(['role', 'subtype', 'content']).execute();
  expect(messages).toContainEqual({ role: 'assistant', subtype: 'thinking', content: 'A list is needed.' });
  expect(messages).toContainEqual(expect.objectContaining({ subtype: 'tool_use', content: 'Run tests' }));
  expect(messages).toContainEqual(
    expect.objectContaining({ role: 'user', content: expect.stringContaining('## Verdict') }),
  );
  const issue = await db
    .selectFrom('issues')
    .select('cost_usd')
    .where('issue_number', '=', number)
    .executeTakeFirstOrThrow();
  expect(Number(issue.cost_usd)).toBeCloseTo(0.26);
  expect(output()).not.toContain(BOT.token);
});
