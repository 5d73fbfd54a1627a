import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ANNA, createSandboxEnvironment, openIssue, REPO, type SandboxEnvironment } from '@pipeline/testing/sandbox';

let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());

const patch = (issue: number, body: object, token = ANNA.token) =>
  environment.api('PATCH', `/repos/acme/shop/issues/${issue}`, body, token);

test('the log of an issue shows who labelled, closed, reopened, renamed and edited it, oldest first', async () => {
  const issue = await openIssue(environment);
  await environment.api('POST', `/repos/acme/shop/issues/${issue}/labels`, { labels: ['svc:enqueue'] }, ANNA.token);
  await environment.execute({ type: 'removeLabels', labels: ['svc:enqueue'] }, issue);
  await patch(issue, { title: 'Renamed' });
  await environment.execute({ type: 'closeIssue', reason: 'completed', comment: null }, issue);
  await patch(issue, { state: 'open' });
  const before = await environment.host.historyOf(REPO, issue);
  expect(before?.bodyEdit).toBeNull();
  expect(before?.events.map(({ kind, label, actor }) => [kind, label, actor])).toEqual([
    ['labeled', 'svc:enqueue', 'anna'],
    ['unlabeled', 'svc:enqueue', 'pipeline-bot'],
    ['renamed', null, 'anna'],
    ['closed', null, 'pipeline-bot'],
    ['reopened', null, 'anna'],
  ]);
  const ids = before?.events.map(({ id }) => id) ?? [];
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  await patch(issue, { body: 'Another text' });
  expect((await environment.host.historyOf(REPO, issue))?.bodyEdit).toEqual({
    at: expect.stringMatching(/Z$/),
    editor: 'anna',
  });
});

test('an issue that the host does not have has no log', async () => {
  expect(await environment.host.historyOf(REPO, 99_999)).toBeNull();
});

test('closing an issue reports when the host closed it, also when another account had', async () => {
  const issue = await openIssue(environment);
  const close = () => environment.execute({ type: 'closeIssue', reason: 'completed', comment: null }, issue);
  const first = await close();
  const shown = await environment.host.getIssue(REPO, issue);
  expect(first).toMatchObject({ status: 'ok', repeated: false, created: { at: shown?.closedAt } });
  expect(await close()).toMatchObject({ status: 'ok', repeated: true, created: { at: shown?.closedAt } });
});
