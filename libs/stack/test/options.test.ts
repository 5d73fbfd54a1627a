import { expect, test } from '@jest/globals';
import { loadState } from '../src/data/state.ts';
import { stackCommand, stackOptions } from '../src/start/options.ts';
import { reportOf, reportText } from '../src/start/report.ts';

/** Commander ends the process on an error; here it throws, and its words are kept. */
function parse(...args: string[]) {
  const command = stackCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return stackOptions(command.parse(args, { from: 'user' }));
}

test('runs everything on the embedded Postgres when there are no options', () => {
  const { dataDir, ...options } = parse();
  expect(dataDir).toMatch(/\/\.data$/);
  expect(options).toEqual({
    fresh: false,
    demo: true,
    json: false,
    databaseUrl: undefined,
    repo: undefined,
    workers: 2,
    issues: 30,
  });
});

test.each([
  [['--workers', '0'], 'must be a whole number from 1 to 20'],
  [['--issues', '31'], 'must be a whole number from 1 to 30'],
  [['--database-url', 'localhost'], 'must be an address like postgres://'],
  [['--fresh', '--database-url', 'postgres://localhost/x'], '--fresh removes what is in the data folder'],
  [['--frsh'], 'unknown option'],
  [['please'], 'too many arguments'],
])('%j is refused', (args, message) => {
  expect(() => parse(...args)).toThrow(message);
});

test('the report has what --json promises, and the text three commands with the credentials in them', async () => {
  const state = { ...(await loadState('/nonexistent')), repos: [{ slug: 'demo/shop', source: '/srv/shop' }] };
  const report = reportOf(state, { hosted: 1, monitor: 2, sandbox: 3, postgres: 4 }, 'postgres://x');
  expect(report).toEqual({
    hosted: {
      url: 'http://127.0.0.1:1',
      loginUrl: 'http://127.0.0.1:1/account/connections',
      workerToken: state.workerToken,
      user: state.user,
    },
    monitor: { url: 'http://127.0.0.1:2', ...state.monitor },
    sandbox: { url: 'http://127.0.0.1:3', token: state.sandbox.person.token },
    database: { url: 'postgres://x' },
    repos: ['demo/shop'],
  });
  const text = reportText(report, '/data', { workers: 2, issues: 30 });
  expect(text.match(/^ +curl .*$/gm)).toHaveLength(4);
  expect(text).toContain(
    `curl -s http://127.0.0.1:3/repos/demo/shop/issues -H 'Authorization: Bearer ${state.sandbox.person.token}'`,
  );
  expect(text).toContain('npm run -s connect -- http://127.0.0.1:1');
  expect(text).toContain('a simulation');
  expect(text).toContain(`-u 'operator:${state.monitor.password}'`);
});
