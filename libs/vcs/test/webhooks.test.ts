import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { createSignatureCheck, parseWebhook } from '../src/index.ts';

interface Examples {
  name: string;
  examples: Record<string, unknown>[];
}
const load = createRequire(import.meta.url);
const all = load('@octokit/webhooks-examples') as Examples[] | { default: Examples[] };
const events = Array.isArray(all) ? all : all.default;
const examplesOf = (name: string, action: string) =>
  (events.find((event) => event.name === name)?.examples ?? []).filter((example) => example.action === action);

describe('real deliveries', () => {
  test('every published example is parsed or ignored', () => {
    const outcomes = events.flatMap(({ name, examples }) =>
      examples.map((example) => ({ name, action: example.action, parsed: parseWebhook(name, example) })),
    );
    expect(outcomes.length).toBeGreaterThan(300);
    const handled = new Set(outcomes.filter((o) => o.parsed !== 'ignored').map((o) => `${o.name}.${o.action}`));
    expect([...handled].sort()).toEqual([
      'check_run.completed',
      'check_run.created',
      'check_run.rerequested',
      'check_suite.completed',
      'installation.created',
      'installation_repositories.added',
      'installation_repositories.removed',
      'issue_comment.created',
      'issues.assigned',
      'issues.edited',
      'issues.labeled',
      'issues.opened',
      'issues.reopened',
      'issues.unassigned',
      'issues.unlabeled',
      'pull_request.closed',
      'pull_request.converted_to_draft',
      'pull_request.opened',
      'pull_request.ready_for_review',
      'pull_request.reopened',
      'pull_request.synchronize',
      'pull_request_review.dismissed',
      'pull_request_review.submitted',
      // It has no action.
      'repository.renamed',
      'repository.transferred',
      'status.undefined',
    ]);
  });

  test('an installation names its account, its host and its repositories', () => {
    expect(parseWebhook('installation', examplesOf('installation', 'created')[0])).toMatchObject([
      {
        kind: 'repositories',
        account: { id: expect.any(Number), login: expect.any(String) },
        webUrl: 'https://github.com',
        added: [{ owner: expect.any(String), name: expect.any(String), hostId: expect.any(Number) }],
        removed: [],
      },
    ]);
  });

  test('a pull request that left the merge queue is reported like the end of its checks', () => {
    const [example] = examplesOf('pull_request', 'synchronize');
    const parsed = parseWebhook('pull_request', { ...(example as object), action: 'dequeued', reason: 'CI_FAILURE' });
    expect(parsed).toMatchObject([{ kind: 'checks', headSha: expect.stringMatching(/^[0-9a-f]{40}$/), checks: [] }]);
  });

  test('an edit reports which parts of the text were changed', () => {
    const [example] = examplesOf('issues', 'edited');
    const edited = (changes: object) => parseWebhook('issues', { ...(example as object), changes });
    expect(edited({ body: { from: 'old' } })).toMatchObject([{ action: 'edited', changed: ['body'] }]);
    expect(edited({ title: { from: 'a' }, body: { from: 'b' } })).toMatchObject([{ changed: ['title', 'body'] }]);
    expect(edited({})).toMatchObject([{ changed: [] }]);
  });

  test('returns name, issue and actor of a label', () => {
    expect(parseWebhook('issues', examplesOf('issues', 'labeled')[0])).toMatchObject([
      {
        kind: 'issue',
        action: 'labeled',
        label: 'bug',
        repo: { owner: 'Codertocat', name: 'Hello-World' },
        issue: { number: 1, labels: ['bug'], state: 'open' },
        sender: 'Codertocat',
      },
    ]);
  });

  test('reports the people that an issue is assigned to, without bots', () => {
    const [example] = examplesOf('issues', 'assigned');
    const assignees = [
      null,
      { login: 'helper', type: 'Bot' },
      { login: 'anna', type: 'User' },
      { login: 'x'.repeat(2_000) },
    ];
    const given = { ...example, issue: { ...(example?.issue as object), assignees } };
    const read = parseWebhook('issues', given);
    expect(read).toMatchObject([{ action: 'assigned', issue: { assignees: ['anna', 'x'.repeat(1_024)] } }]);
    const { assignees: _, ...issue } = given.issue;
    expect(parseWebhook('issues', { ...given, issue })).not.toMatchObject([
      { issue: { assignees: expect.anything() } },
    ]);
  });

  test('a closed pull request reads as merged only when it was merged', () => {
    const [example] = examplesOf('pull_request', 'closed');
    const pull = example?.pull_request as object;
    const merged = { ...example, pull_request: { ...pull, merged: true, merged_at: '2026-01-01T00:00:00Z' } };
    const closed = { ...example, pull_request: { ...pull, merged: false, merged_at: null } };
    expect(parseWebhook('pull_request', merged)).toMatchObject([{ action: 'merged' }]);
    expect(parseWebhook('pull_request', closed)).toMatchObject([{ action: 'closed', pullRequest: { merged: false } }]);
  });

  test('a ping, an unknown event and a name of Object.prototype are ignored', () => {
    for (const name of ['ping', 'star', 'constructor'])
      expect(parseWebhook(name, { action: 'opened' })).toBe('ignored');
  });

  test('a handled event without its fields is refused by name', () => {
    expect(() => parseWebhook('issues', { action: 'opened', issue: { number: 'one' } })).toThrow(/issue\.number/);
    expect(() => parseWebhook('issues', null)).toThrow(/payload/);
  });
});

describe('signature', () => {
  const check = createSignatureCheck('secret');
  const body = '{"zen":"naïve"}';
  const sign = (secret: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

  test('accepts what was signed, as text or as bytes', async () => {
    const signature = sign('secret');
    expect(await check(body, signature)).toBe(true);
    expect(await check(Buffer.from(body), signature)).toBe(true);
  });

  test('refuses another body, another secret, no signature and no body', async () => {
    const signature = sign('secret');
    expect(await check(`${body} `, signature)).toBe(false);
    expect(await check(body, sign('other'))).toBe(false);
    expect(await check(body, undefined)).toBe(false);
    expect(await check(body, 'sha256=00')).toBe(false);
    expect(await check('', signature)).toBe(false);
  });
});
