/** The commands of customers that read, with a real login at the real API. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { RepoRow } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { pipelineCommands } from '../accounts/pipeline-command.ts';
import { testOauth } from '../oauth/oauth-world.ts';
import { addRepo, labelIssue } from '../support/hosted.ts';

const world = testOauth();
const pipeline = pipelineCommands()();
const { database } = world.hosting;
const SLUG = 'acme/shop';
let repo: RepoRow;

beforeAll(async () => {
  const { api } = world.hosting;
  const person = await world.person('acme');
  await database.db.updateTable('memberships').set({ role: 'owner' }).where('user_id', '=', person.id).execute();
  repo = await addRepo(api, person.tenantIds[0] ?? 0, SLUG);
  await addRepo(api, person.tenantIds[0] ?? 0, 'acme/site');
  await labelIssue(api, repo, 1, { title: 'Red \u001b[31malert\u001b[0m \u202eevil\u009b2J' });
  await labelIssue(api, repo, 2, { title: 'x'.repeat(500) });
  const { code, stderr } = await pipeline.login(world, person);
  if (code !== 0) throw new Error(stderr);
});

describe('a command that reads', () => {
  test('repos lists the repositories up to the limit', async () => {
    expect(await pipeline.json('repos')).toMatchObject({ items: [{ slug: SLUG }, { slug: 'acme/site' }], total: 2 });
    const { stdout } = await pipeline.run('repos', '--limit', '1');
    expect(stdout).toContain('1 of 2; --limit shows more');
  });

  test('issues prints one bounded line for each issue, without the control characters of their titles', async () => {
    const { code, stdout } = await pipeline.run('issues', SLUG);
    expect(code).toBe(0);
    const [head, ...rows] = stdout.trimEnd().split('\n');
    expect([head?.split(/ +/)[0], rows.length]).toEqual(['ISSUE', 2]);
    expect(stdout).toContain('alert');
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThan(200);
  });

  test('issues continues with --offset and escapes invisible characters in JSON', async () => {
    const first = await pipeline.run('issues', SLUG, '--limit', '1');
    expect(first.stdout).toContain('1 of 2; --offset 1 continues');
    const page = await pipeline.json('issues', SLUG, '--limit', '1', '--offset', '1');
    expect(page).toMatchObject({ items: [expect.anything()], page: { total: 2, offset: 1 } });
    const { stdout } = await pipeline.run('issues', SLUG, '--json');
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    expect(JSON.parse(stdout).items[0].title).toContain('\u202e');
  });

  test('why explains an issue', async () => {
    expect(await pipeline.json('why', `${SLUG}#2`)).toMatchObject({ issueNumber: 2, state: 'analyzing' });
    const { stdout } = await pipeline.run('why', `${SLUG}#2`);
    expect(stdout).toContain('waits for a free worker');
  });

  test('overview and costs print the figures of a repository', async () => {
    expect(await pipeline.json('overview', SLUG)).toMatchObject({ openIssues: 2, queueDepth: { total: 2 } });
    expect((await pipeline.run('overview', SLUG)).stdout).toContain('2 open issues, 2 pending tasks');
    const costs = await pipeline.json('costs');
    expect(costs).toMatchObject({ lifetimeUsd: 0, byRepo: expect.anything() });
    expect((await pipeline.run('costs', SLUG)).stdout).toMatch(/^REPOSITORY .*\n(.*\n)*total +\$0\.00/);
  });

  test('mcp prints the address for a program', async () => {
    const { stdout } = await pipeline.run('mcp', 'claude-code');
    expect(stdout).toBe(`# claude-code: run\nclaude mcp add --transport http pipeline ${world.front.url}/api/mcp\n`);
    const { programs } = await pipeline.json('mcp');
    for (const { program, config } of programs) if (config.startsWith('{')) expect([program, JSON.parse(config)]);
    expect((await pipeline.run('mcp', 'emacs')).code).toBe(2);
  });

  test.each([
    [['issues', 'shop'], 2, 'owner/name'],
    [['why', SLUG], 2, 'owner/name#number'],
    [['issues', SLUG, '--limit', '501'], 2, '--limit must be a whole number from 1 to 500'],
    [['issues', SLUG, '--state', 'closed'], 1, 'state'],
    [['issues', 'no/such'], 1, 'The repo is not enabled'],
    [['why', `${SLUG}#99`], 1, ''],
    [['costs', 'no/such'], 1, ''],
  ])('refuses %j with %i', async (args, status, message) => {
    const { code, stdout, stderr } = await pipeline.run(...args);
    expect([code, stdout, stderr]).toEqual([status, '', expect.stringMatching(/^error: /)]);
    expect(stderr).toContain(message);
  });
});

describe('pipeline watch', () => {
  test('prints an issue that enters the list of a repository', async () => {
    const requests = () => world.front.counts().reduce((sum, count) => sum + count, 0);
    const before = requests();
    const watch = pipeline.start('watch', SLUG, '--every', '1', '--changes', '1', '--json');
    // The second request is sent after the first response.
    await until('the list is read', () => requests() >= before + 2);
    await labelIssue(world.hosting.api, repo, 3);
    const { code, stdout } = await watch.ended;
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ change: 'added', issueNumber: 3 })]);
  });

  test('ends when the issue is done', async () => {
    const watch = pipeline.start('watch', `${SLUG}#2`, '--every', '1');
    await until('the first explanation is printed', () => watch.output.stdout.includes('\n'));
    await database.db.updateTable('issues').set({ state: 'done' }).where('issue_number', '=', 2).execute();
    const { code, stdout } = await watch.ended;
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 2]);
  });
});
