import { describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { cliOn, runProcess } from './cli.ts';

let url: string | undefined = 'postgres://nobody@127.0.0.1:1/none';
const cli = cliOn(() => url);
const database = testDatabase();
const onStore = cliOn(() => database.url);

describe('the program', () => {
  test('ends with the code, and writes to the streams, of the requested command', async () => {
    const help = await runProcess(['admin', 'user', 'create', '--help'], undefined);
    expect(help).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: pipeline admin user create/), stderr: '' });
    expect(await runProcess(['nonsense'], url)).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: /),
    });
    expect(await runProcess(['admin', 'org', 'list'], url)).toMatchObject({ code: 69, stdout: '' });
  });
});

describe('the command line', () => {
  test('shows its help without a database', async () => {
    const { code, stdout } = await cli.run(['admin', 'user', 'create', '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: pipeline admin user create');
  });

  test.each([
    [['nonsense']],
    [['admin', 'org', 'create']],
    [['admin', 'org', 'list', '--colour']],
    [['admin', 'org', 'list', 'too', 'much']],
    // A password on the command line could be read by every user of the machine.
    [['admin', 'user', 'set-password', 'anna@example.org', '--password', 'x']],
  ])('wrong usage %j ends with 2 and prints what is wrong', async (args) => {
    const { code, stdout, stderr } = await cli.run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: /);
  });

  test.each([
    [['nonsense', '--json'], "unknown command 'nonsense'"],
    [['admin', 'org', 'create', '--json'], "missing required argument 'id'"],
    [['admin', 'org', 'list', '--colour', '--json'], "unknown option '--colour'"],
    [['--json', 'admin', 'org', 'list', 'too', 'much'], "unknown option '--json'"],
    [['admin', 'org', '--json'], "unknown option '--json'"],
    [['admin', 'worker-token', 'revoke', '--json'], 'give a token id or --name'],
    [['admin', 'connections', 'revoke', '--json'], 'give a connection id or --user'],
    [['admin', 'audit', 'list', '--limit', 'x', '--json'], '--limit must be a whole number from 1 to 10000, not x'],
    [
      ['admin', 'price', 'set', 'a', '--input', 'x', '--output', '1', '--json'],
      '--input must be a number of US dollars, not x',
    ],
  ])('answers wrong usage %j with one JSON document and 2', async (args, message) => {
    const { code, stdout, stderr } = await onStore.run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr)).toEqual({ error: { code: 'USAGE', message } });
  });

  test.each([[[]], [['admin']], [['admin', 'org']]])(
    'shows the help of a group without a command, %j, with 2',
    async (args) => {
      const { code, stderr } = await cli.run(args);
      expect([code, stderr]).toEqual([2, expect.stringContaining('Usage: pipeline')]);
    },
  );

  test.each(['abc', '7', '0198c5a4-7c1e-7000-8000-000000000001'])(
    'refuses to revoke a worker token that does not exist, %s, with 1',
    async (id) => {
      const { code, stderr } = await onStore.run(['admin', 'worker-token', 'revoke', id, '--json']);
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toMatchObject({
        error: { code: 'NOT_FOUND', message: expect.stringContaining(`there is no live worker token ${id}`) },
      });
    },
  );

  test('a database that is away ends with 69, for programs in JSON', async () => {
    const { code, stdout, stderr } = await cli.run(['admin', 'org', 'list', '--json']);
    expect([code, stdout]).toEqual([69, '']);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('the database cannot be reached') },
    });
  });

  test('a missing or wrong DATABASE_URL ends with 78 and names it', async () => {
    for (url of [undefined, 'mysql://x']) {
      const { code, stderr } = await cli.run(['admin', 'org', 'list']);
      expect(code).toBe(78);
      expect(stderr).toMatch(/^error: DATABASE_URL: must be/);
    }
  });
});
