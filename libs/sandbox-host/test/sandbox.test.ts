import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ANNA,
  createSandboxEnvironment,
  openIssue,
  REPO,
  type SandboxEnvironment,
  STRANGER,
} from '@pipeline/testing/sandbox';
import { createSignatureCheck, parseWebhook } from '@pipeline/vcs';

interface Received {
  event: string;
  guid: string;
  signature: string;
  body: string;
}
const received: Received[] = [];
let answers: number[] = [];
const receiver = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const header = (name: string) => String(req.headers[name]);
    const body = Buffer.concat(chunks).toString();
    const [event, guid] = [header('x-github-event'), header('x-github-delivery')];
    received.push({ event, guid, signature: header('x-hub-signature-256'), body });
    res.writeHead(answers.shift() ?? 204).end();
  });
});
let environment: SandboxEnvironment;
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  environment = await createSandboxEnvironment({
    webhooks: [{ url, secret: 'shh' }],
    autoDeliver: false,
    retryDelaysMs: [1, 1],
  });
});
afterAll(async () => {
  await environment.end();
  receiver.close();
});
const deliver = async () => {
  received.length = 0;
  await environment.sandbox.flushWebhooks();
  return [...received];
};

describe('webhooks', () => {
  test('webhooks are signed, in order, and mean the same to the reader as a real one', async () => {
    expect((await deliver()).map((one) => one.event)).toEqual(['ping']);
    const number = await openIssue(environment);
    await environment.api('POST', `/repos/acme/shop/issues/${number}/labels`, { labels: ['svc:enqueue'] }, ANNA.token);
    await environment.api('POST', `/repos/acme/shop/issues/${number}/comments`, { body: '/svc:pause' }, ANNA.token);
    const got = await deliver();
    const check = createSignatureCheck('shh');
    for (const one of got) expect(await check(one.body, one.signature)).toBe(true);
    expect(got.map((one) => parseWebhook(one.event, JSON.parse(one.body)))).toMatchObject([
      [{ kind: 'issue', action: 'opened', repo: REPO, issue: { number }, sender: 'anna' }],
      [{ kind: 'issue', action: 'labeled', label: 'svc:enqueue', sender: 'anna' }],
      [{ kind: 'comment', issueNumber: number, comment: { body: '/svc:pause' }, issueAuthor: 'anna' }],
    ]);
  });

  test('report each added and removed assignee', async () => {
    const number = await openIssue(environment);
    const path = `/repos/acme/shop/issues/${number}`;
    await environment.api('POST', `${path}/assignees`, { assignees: ['anna', 'pipeline-bot', 'nobody'] }, ANNA.token);
    await environment.api('POST', `${path}/assignees`, { assignees: ['anna'] }, ANNA.token);
    await environment.api('PATCH', path, { assignees: ['stranger'] }, ANNA.token);
    await environment.api('DELETE', `${path}/assignees`, { assignees: ['stranger'] }, ANNA.token);
    const read = (await deliver()).map((one) => parseWebhook(one.event, JSON.parse(one.body)));
    expect(read.slice(1)).toMatchObject([
      [{ kind: 'issue', action: 'assigned', issue: { assignees: ['anna'] }, sender: 'anna' }],
      [{ action: 'assigned', issue: { assignees: ['anna'] } }],
      [{ action: 'assigned', issue: { assignees: ['stranger'] } }],
      [{ action: 'unassigned' }],
      [{ action: 'unassigned' }],
      [{ action: 'unassigned', issue: { assignees: [] } }],
    ]);
  });

  test('follow a pull request from its opening to its merge', async () => {
    await environment.push('hooked', 'hooked.txt', '1\n');
    const { data } = await environment.api('POST', '/repos/acme/shop/pulls', {
      title: 't',
      head: 'hooked',
      base: 'main',
    });
    const { number } = data as { number: number };
    await environment.push('hooked', 'hooked.txt', '2\n');
    await environment.api('POST', `/repos/acme/shop/pulls/${number}/reviews`, { event: 'APPROVE' }, ANNA.token);
    await environment.api('PUT', `/repos/acme/shop/pulls/${number}/merge`, {});
    const read = (await deliver()).map((one) => parseWebhook(one.event, JSON.parse(one.body)));
    expect(read).toMatchObject([
      [{ kind: 'pull-request', action: 'opened' }],
      [{ kind: 'pull-request', action: 'synchronize' }],
      [{ kind: 'review', review: { verdict: 'approved', author: 'anna' } }],
      [{ kind: 'pull-request', action: 'merged', pullRequest: { merged: true } }],
    ]);
  });

  test('sends a webhook again under the same id while the receiver fails, and not after a refusal', async () => {
    answers = [500, 503, 204];
    await openIssue(environment);
    const got = await deliver();
    expect(got).toHaveLength(3);
    expect(new Set(got.map((one) => one.guid)).size).toBe(1);
    answers = [401];
    await openIssue(environment);
    expect(await deliver()).toHaveLength(1);
    expect(await deliver()).toHaveLength(0);
  });
});

describe('answers', () => {
  const issues = '/repos/acme/shop/issues';
  test.each([
    { method: 'GET', path: '/user', token: 'wrong-token', status: 401, message: 'Bad credentials' },
    { method: 'GET', path: '/repos/acme/none', status: 404, message: 'Not Found' },
    { method: 'GET', path: `${issues}/99999`, status: 404, message: 'Not Found' },
    { method: 'POST', path: issues, body: { body: 'no title' }, status: 422, message: 'Validation Failed' },
    { method: 'GET', path: `${issues}?since=yesterday`, status: 422, message: 'Validation Failed' },
    {
      method: 'POST',
      path: '/repos/acme/shop/pulls',
      body: { title: 't', head: 'x', base: 'main' },
      token: STRANGER.token,
      status: 403,
      message: 'Must have push access',
    },
  ])('$method $path: $status', async ({ method, path, body, token = ANNA.token, status, message }) => {
    const answer = await environment.api(method, path, body, token);
    expect(answer.status).toBe(status);
    expect(answer.data).toMatchObject({
      message: expect.stringContaining(message),
      documentation_url: expect.any(String),
      status: String(status),
    });
  });

  test('carry an id of their own, refusals and faults too', async () => {
    environment.sandbox.failNext({ status: 503, match: { path: '/rate_limit' } });
    const paths = ['/rate_limit', '/repos/acme/shop', '/repos/acme/none'];
    const responses = await Promise.all(paths.map((path) => fetch(environment.sandbox.url + path)));
    const ids = responses.map(({ headers }) => headers.get('x-github-request-id'));
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain(null);
  });

  test('refuses a body that is not JSON, saying so', async () => {
    const headers = { authorization: `Bearer ${ANNA.token}` };
    const response = await fetch(`${environment.sandbox.url}${issues}`, { method: 'POST', headers, body: '{' });
    expect([response.status, await response.json()]).toMatchObject([400, { message: 'Problems parsing JSON' }]);
  });

  test('hides a private repo, reports a rate limit, and does not count the question about it', async () => {
    await environment.sandbox.addRepo({ slug: 'acme/secret', private: true });
    expect(await environment.api('GET', '/repos/acme/secret', undefined, ANNA.token)).toMatchObject({ status: 404 });
    const small = await createSandboxEnvironment({ rateLimitPerHour: 2 });
    const used = async () => (await small.api('GET', '/rate_limit')).data as { rate: { used: number } };
    const { headers } = await small.api('GET', '/user');
    await small.api('GET', '/user');
    expect((await used()).rate.used).toBe(2);
    expect(headers.get('x-ratelimit-remaining')).toBe('1');
    expect(await small.host.execute(REPO, 1, { type: 'reopenIssue' }, { mayHaveHappened: false })).toMatchObject({
      status: 'rate-limited',
    });
    await small.end();
  });

  test('pages show what was written, as text', async () => {
    const number = await openIssue(environment, '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>');
    for (const path of ['/', '/acme/shop', `/acme/shop/issues/${number}`]) {
      const text = await (await fetch(`${environment.sandbox.url}${path}`)).text();
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(text).not.toMatch(/<script|<img/);
    }
  });

  test('requests are counted by type', async () => {
    await environment.api('DELETE', '/_sandbox/requests');
    const number = await openIssue(environment);
    await environment.execute({ type: 'postComment', body: 'b', marker: 'm' }, number);
    const { data } = await environment.api('GET', '/_sandbox/requests');
    expect(data).toMatchObject({ counts: { 'POST /issues 201': 1, 'POST /issues/:number/comments 201': 1 } });
  });
});

describe('git over HTTP', () => {
  test('needs a token with write access for a push', async () => {
    const url = `${environment.sandbox.url}/acme/shop.git`;
    await environment.git(['clone', '-q', url, 'anonymous']);
    const push = (to: string) =>
      environment.git(['push', '-q', to, 'HEAD:refs/heads/x'], `${environment.dir}/anonymous`);
    await expect(push(url)).rejects.toThrow(/could not read Username|Authentication failed/);
    await expect(push(url.replace('//', `//x:${STRANGER.token}@`))).rejects.toThrow(/403/);
    await push(url.replace('//', `//x:${ANNA.token}@`));
    await expect(
      environment.git(['clone', '-q', `${environment.sandbox.url}/acme/none.git`, 'none']),
    ).rejects.toThrow();
  });
});
