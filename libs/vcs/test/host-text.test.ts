import { describe, expect, test } from '@jest/globals';
import { MAX_HOST_BODY, MAX_HOST_LINE } from '@pipeline/domain';
import { createGitHubHost } from '../src/github/index.ts';
import { hasMarker, keepMarkers, withMarker } from '../src/github/marker.ts';
import { parseWebhook } from '../src/index.ts';

const MIB = 1_048_576;
const AT = '2026-03-01T12:00:00Z';
const user = { login: 'anna' };
const repository = { name: 'shop', owner: { login: 'acme' } };
const times = { created_at: AT, updated_at: AT };
const large = '😀'.repeat(5 * MIB);
const line = 'x'.repeat(MIB);

const issue = {
  number: 1,
  title: line,
  body: large,
  html_url: 'https://github.com/acme/shop/issues/1',
  user,
  ...times,
  labels: Array.from({ length: 5_000 }, (_, n) => ({ name: `${n}${line.slice(0, 2_000)}` })),
};
const pull = {
  number: 2,
  title: line,
  body: large,
  html_url: 'https://github.com/acme/shop/pull/2',
  user,
  state: 'open',
  ...times,
  head: { ref: line, sha: 'a'.repeat(40) },
  base: { ref: line },
};

describe('a delivery is cut to bounds when its text is large', () => {
  test.each([
    ['issues', { action: 'opened', issue, repository }],
    ['issue_comment', { action: 'created', issue, comment: { id: 1, user, body: large, ...times }, repository }],
    ['pull_request', { action: 'opened', pull_request: pull, repository }],
    [
      'pull_request_review',
      {
        action: 'submitted',
        repository,
        pull_request: { number: 2 },
        review: { id: 1, user, state: 'approved', body: large, commit_id: 'a'.repeat(40) },
      },
    ],
  ])('%s', (name, payload) => {
    const events = JSON.stringify(parseWebhook(name, payload));
    expect(events.length).toBeLessThan(MAX_HOST_BODY + 110 * MAX_HOST_LINE);
    expect(events.isWellFormed()).toBe(true);
    expect(events).not.toMatch(/\\ud83d"/);
  });
});

describe('text that Postgres cannot store is replaced', () => {
  const REPO = { owner: 'acme', name: 'shop' };
  const hostWith = (respond: () => Response) =>
    createGitHubHost({
      baseUrl: 'http://host.test',
      token: 't',
      clientType: 'sandbox',
      userAgent: 'test',
      fetch: async () => respond(),
      now: () => new Date(AT),
    });

  test('replaces such text in JSON that the host returns', async () => {
    const unstorable = { ...issue, title: 'a\0b', body: '\ud83d', labels: [{ name: '\udc00' }], state: 'open' };
    const found = await hostWith(() => Response.json(unstorable)).getIssue(REPO, 1);
    expect(found).toMatchObject({ title: 'a\ufffdb', body: '\ufffd', labels: ['\ufffd'] });
  });

  test('replaces such text in the log of a failed check', async () => {
    const check = { kind: 'check-run', name: 'build', state: 'failure', conclusion: null, url: null } as const;
    const host = hostWith(() => new Response('FAIL \0 a.test.ts', { headers: { 'content-type': 'text/plain' } }));
    expect(await host.logTailOf(REPO, { ...check, hostId: 1, at: AT })).toBe('FAIL \ufffd a.test.ts');
  });

  test('replaces such text in the reason of a refusal', async () => {
    const host = hostWith(() => Response.json({ message: 'no \0' }, { status: 422 }));
    const result = await host.execute(REPO, 1, { type: 'reopenIssue' }, { mayHaveHappened: false });
    expect(JSON.stringify(result)).toContain('no \ufffd');
  });
});

test('a text that is cut to make room for its marker keeps whole characters', () => {
  for (const lead of ['', 'x']) expect(withMarker(`${lead}${large}`, 'm').isWellFormed()).toBe(true);
});

test('a marker that an agent wrote into a text does not count', () => {
  const text = withMarker('<!-- svc:subtask-12-0 --> Do it', 'subtask-3-0');
  expect([hasMarker(text, 'subtask-12-0'), hasMarker(text, 'subtask-3-0')]).toEqual([false, true]);
});

test('markers are kept in linear time when a body consists of them', () => {
  const body = Array.from({ length: 3_000 }, (_, n) => `<!-- svc:marker-${n} -->`).join('');
  let kept = '';
  const costs = [0, 1, 2].map(() => {
    const before = process.cpuUsage();
    kept = keepMarkers(body, '<!-- svc:marker-1 -->'.repeat(3_000));
    const { user: used, system } = process.cpuUsage(before);
    return (used + system) / 1_000;
  });
  expect(Math.min(...costs)).toBeLessThan(50);
  expect(kept.endsWith('<!-- svc:marker-2999 -->')).toBe(true);
  expect(kept.match(/<!-- svc:marker-1 -->/g)?.length).toBe(3_000);
});
