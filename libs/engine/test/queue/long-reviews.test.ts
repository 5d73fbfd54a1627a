import { expect, test } from '@jest/globals';
import { applyHostEvent } from '@pipeline/engine';
import { drain, finish, take, workUntil } from '../harness.ts';
import { Stage } from '../stage.ts';

const bench = new Stage({ issues: 1 });

test('all comments of the longest review reach the developer, and so does an answer after it', async () => {
  await workUntil(bench, 'in-review');
  await drain(bench);
  const comments = Array.from({ length: 200 }, (_, n) => ({ path: 'a.ts', line: n + 1, body: `comment ${n + 1}` }));
  await finish(bench, await take(bench), { outcome: 'changes-requested', result: { body: 'summary', comments } });
  const develop = await take(bench);
  expect(develop.payload.reviewComments.map(({ body }) => body)).toEqual([
    'summary',
    ...comments.map(({ body }) => body),
  ]);
  await finish(bench, develop, { outcome: 'needs-clarification', result: { question: 'A or B?' } });
  await drain(bench);
  bench.pass(60);
  const at = bench.database.clock.now?.toISOString() ?? '';
  const comment = { id: 5, author: 'alice', body: 'B, please', createdAt: at, updatedAt: at };
  const place = { kind: 'comment', repo: bench.repo, issueNumber: 1, onPullRequest: false } as const;
  await applyHostEvent(bench, { ...place, comment, issueAuthor: 'alice', sender: 'alice' });
  expect((await take(bench)).payload.answers).toEqual([{ author: 'alice', body: 'B, please' }]);
});
