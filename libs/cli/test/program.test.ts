import { describe, expect, test } from '@jest/globals';
import { cliOn, runProcess } from './cli.ts';

let url: string | undefined = 'postgres://nobody@127.0.0.1:1/none';
const cli = cliOn(() => url);

describe('the program', () => {
  test('ends with the code, and writes to the streams, of what it is asked for', async () => {
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
    // A password on the command line could be read by everybody on the machine.
    [['admin', 'user', 'set-password', 'anna@example.org', '--password', 'x']],
  ])('wrong usage %j ends with 2 and says what is wrong', async (args) => {
    const { code, stdout, stderr } = await cli.run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: /);
  });

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
