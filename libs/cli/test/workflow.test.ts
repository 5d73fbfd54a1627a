import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKFLOW } from '@pipeline/domain';
import { activeWorkflow } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { cliOn } from './cli.ts';
import { addIssue, addRepo, deedsOn, workflowWithout } from './rows.ts';

const database = testDatabase();
const cli = cliOn(() => database.url);
const folder = mkdtempSync(join(tmpdir(), 'cli-workflow-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (document: unknown): string => {
  const path = join(folder, `${Math.random()}.json`);
  writeFileSync(path, typeof document === 'string' ? document : JSON.stringify(document));
  return path;
};
const workflow = (verb: string, ...args: string[]) => ['admin', 'workflow', verb, ...args];

describe('workflow of a repo', () => {
  test('put stores the output of show as the next version; it is in force once it is activated', async () => {
    const { tenantId, repo } = await addRepo(database, 'acme', 'acme/shop');
    const shown = await cli.run(workflow('show', 'acme/shop'));
    expect(shown.stdout).toMatch(/^version: 1\nstates:\n {2}- name: new\n/);
    const faster = shown.stdout.replace('warnAfterMinutes: null', 'warnAfterMinutes: 5');
    expect(await cli.json([...workflow('put', 'Acme/Shop', '-'), '--as', 'olga'], faster)).toEqual({
      repo: 'acme/shop',
      version: 2,
      active: false,
      warnings: [],
    });
    expect(await activeWorkflow(database.store.db, tenantId, repo.id)).toMatchObject({ version: 1 });
    const activate = [...workflow('activate', 'acme/shop', '2'), '--as', 'olga', '--reason', 'warn sooner'];
    expect(await cli.json(activate)).toMatchObject({ version: 2, before: 1, changed: true });
    expect(await cli.json(activate)).toMatchObject({ changed: false });
    const active = await activeWorkflow(database.store.db, tenantId, repo.id);
    expect(active?.states[0]).toMatchObject({ name: 'new', warnAfterMinutes: 5 });
    expect(await cli.json(workflow('versions', 'acme/shop'))).toMatchObject([
      { version: 2, active: true, createdBy: 'olga', activatedBy: 'olga', activatedAt: expect.any(String) },
      { version: 1, active: false, createdBy: null },
    ]);
    expect(await cli.json([...workflow('show', 'acme/shop'), '--at', '1'])).toEqual(DEFAULT_WORKFLOW);
    expect(await deedsOn(database, repo)).toMatchObject([
      { agent: 'olga', action: 'workflow-put', version: 2 },
      { agent: 'olga', action: 'workflow-activate', version: 2, before: 1, reason: 'warn sooner' },
    ]);
  });

  test('plans need the approval of a person while it is required, until it is turned off', async () => {
    const { tenantId, repo } = await addRepo(database, 'acme', 'acme/planned');
    const required = await cli.run([...workflow('plan-approval', 'acme/planned', 'required'), '--as', 'olga']);
    expect(required).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^plan approval of acme\/planned is now required/),
    });
    const plannedTo = async () => {
      const active = await activeWorkflow(database.store.db, tenantId, repo.id);
      return active?.edges.find(({ from, trigger }) => from === 'planning' && trigger === 'planned')?.to;
    };
    expect(await plannedTo()).toBe('human-review-ready');
    expect((await cli.run(workflow('plan-approval', 'acme/planned', 'required'))).stdout).toContain(
      'was already required',
    );
    expect(await cli.json(workflow('plan-approval', 'acme/planned', 'off'))).toMatchObject({ changed: true });
    expect(await plannedTo()).toBe('ready-for-dev');
    const actions = (await deedsOn(database, repo)).map(({ action }) => action);
    expect(actions).toEqual(['workflow-put', 'workflow-activate', 'workflow-put', 'workflow-activate']);
  });

  test('refuses an unknown mode of plan approval as wrong usage', async () => {
    const { code, stderr } = await cli.run(workflow('plan-approval', 'acme/planned', 'on'));
    expect([code, stderr]).toEqual([2, expect.stringContaining('mode must be required or off, got "on"')]);
  });

  test('refuses one with errors as a whole, names each error and stores nothing', async () => {
    await addRepo(database, 'acme', 'acme/strict');
    const broken = file(workflowWithout('planning', 'planned'));
    const { code, message } = await cli.refusal([...workflow('put', 'acme/strict', broken), '--activate']);
    expect(code).toBe('INVALID_INPUT');
    expect(message.split('\n')).toEqual([
      'the workflow is not valid:',
      'an edge from planning on planned is missing: the engine needs it',
    ]);
    expect(await cli.json(workflow('versions', 'acme/strict'))).toHaveLength(1);
    const check = await cli.run(workflow('check', 'acme/strict', broken));
    expect(check.code).toBe(1);
    expect(check.stdout).toMatch(/^error: an edge from planning on planned is missing: .*\nnot valid\n$/s);
  });

  test('warns of issues in progress, which continue in their state by the new edges', async () => {
    const { repo } = await addRepo(database, 'acme', 'acme/busy');
    await addIssue(database, repo, 1, 'planning');
    await addIssue(database, repo, 2, 'planning');
    await addIssue(database, repo, 3, 'done');
    const lean = file(workflowWithout('planning', 'split'));
    const warnings = [
      'planning: an agent that reports split makes a dead letter, for no edge leaves on it',
      '2 issues are in planning, which loses its edges on split',
    ];
    expect(await cli.json(workflow('check', 'acme/busy', lean))).toEqual({ ok: true, errors: [], warnings });
    const put = await cli.run([...workflow('put', 'acme/busy', lean), '--activate']);
    const lines = warnings.map((line) => `warning: ${line}\n`).join('');
    expect(put.stdout).toBe(`version 2 of acme/busy stored and activated\n${lines}`);
    expect(await cli.json(workflow('check', 'acme/busy'))).toMatchObject({ ok: true, warnings: [warnings[0]] });
  });

  test('two puts at once get two versions', async () => {
    await addRepo(database, 'acme', 'acme/twice');
    const same = file(DEFAULT_WORKFLOW);
    const put = () => cli.json<{ version: number }>(workflow('put', 'acme/twice', same));
    const versions = (await Promise.all([put(), put()])).map(({ version }) => version);
    expect(versions.sort()).toEqual([2, 3]);
  });

  test('a repo of two organisations needs --org', async () => {
    await addRepo(database, 'one', 'same/slug');
    await addRepo(database, 'two', 'same/slug');
    expect((await cli.refusal(workflow('show', 'same/slug'))).message).toBe(
      'same/slug is of one and two: use --org to select one',
    );
    expect(await cli.json([...workflow('show', 'same/slug'), '--org', 'two'])).toEqual(DEFAULT_WORKFLOW);
  });

  test.each([
    ['a file that is not there', ['put', 'acme/shop', '/nowhere.yaml'], /^\/nowhere.yaml cannot be read: ENOENT/],
    ['what is no YAML', ['put', 'acme/shop', file('a: [')], /line 1/],
    ['what is no workflow', ['put', 'acme/shop', file('just text')], /is not valid:\nworkflow: /],
    ['an unknown repo', ['show', 'acme/none'], /^there is no repo acme\/none/],
    ['no slug', ['show', 'acme'], /^repo must be owner\/name/],
    ['an unknown version', ['activate', 'acme/shop', '9'], /^there is no version 9; there are (2, )?1$/],
  ])('%s is refused', async (_what, args, message) => {
    const [verb = '', ...rest] = args;
    expect((await cli.refusal(workflow(verb, ...rest))).message).toMatch(message);
  });

  test('ends with 2 when a version is no number', async () => {
    const { code, stderr } = await cli.run(workflow('activate', 'acme/shop', 'two'));
    expect([code, stderr]).toEqual([2, 'error: version must be a number such as 2, got "two"\n']);
  });
});
