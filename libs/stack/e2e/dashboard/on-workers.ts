import { firstRunShows } from './live-pages.ts';
import { ScriptedWorker } from './scripted-worker.ts';
import { comes, type Stage } from './stage.ts';

const NAME = 'analyzer-of-the-operator';

/** A worker is drained and resumed; its task is not taken away while it makes progress. */
export async function actOnWorkers(stage: Stage): Promise<void> {
  const { checks, operator, report } = stage;
  const worker = await ScriptedWorker.register(report.hosted, NAME, ['analyze']);
  await firstRunShows(stage, 'the first run ticks the worker off', { Worker: 'done', 'First issue': 'missing' });
  await operator.open('/workers', 'Workers');
  await operator.press('Drain');
  const isDraining = async () => {
    const { items } = await operator.api<{ items: { status: string }[] }>('/api/workers/floor');
    return items[0]?.status === 'draining';
  };
  await comes(stage, 'a drained worker is draining', isDraining);
  checks.equal('and gets no task', await worker.claim('analyze'), null);
  await operator.undo('Drain');
  await comes(stage, 'after undo it gets a task', async () => (await worker.claim('analyze')) !== null);
  await operator.press('Reclaim …');
  await operator.confirm();
  await comes(stage, 'a task that makes progress is not reclaimed', () =>
    operator.says('Reclaim the task of', 'nothing was stalled'),
  );
}
