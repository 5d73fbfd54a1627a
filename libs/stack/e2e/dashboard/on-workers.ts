import { silentLogger } from '@pipeline/runtime';
import { createWorkerClient } from '@pipeline/worker';
import { firstRunShows } from './live-pages.ts';
import { comes, type Stage } from './stage.ts';

const NAME = 'worker-of-the-operator';

/** A worker is drained and resumed; its task is not taken away while it makes progress. */
export async function actOnWorkers(stage: Stage): Promise<void> {
  const { checks, operator, report } = stage;
  const { signal } = new AbortController();
  const client = createWorkerClient({ server: report.hosted.url, token: report.hosted.workerToken, log: silentLogger });
  const { workerId } = await client.register({ name: NAME, taskTypes: ['analyze'] }, signal);
  const claim = () => client.claim({ workerId, taskTypes: ['analyze'], waitMs: 0 }, signal);
  await firstRunShows(stage, 'the first run ticks the worker off', { Worker: 'done', 'First issue': 'missing' });
  await operator.open('/workers', 'Workers');
  await operator.press('Drain');
  const isDraining = async () => {
    const { items } = await operator.api<{ items: { status: string }[] }>('/api/workers/floor');
    return items[0]?.status === 'draining';
  };
  await comes(stage, 'a drained worker is draining', isDraining);
  checks.equal('and gets no task', await claim(), null);
  await operator.undo('Drain');
  await comes(stage, 'after undo it gets a task', async () => (await claim()) !== null);
  await operator.press('Reclaim …');
  await operator.confirm();
  await comes(stage, 'a task that makes progress is not reclaimed', () =>
    operator.says('Reclaim the task of', 'nothing was stalled'),
  );
}
