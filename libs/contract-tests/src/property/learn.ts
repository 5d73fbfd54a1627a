import type { AnyRoute } from '@pipeline/contract';
import { TASK_TYPES } from '@pipeline/domain';
import type { Credential } from '../target/credentials.ts';
import type { Target } from '../target/target.ts';
import { isPlainRead, type PlannedRequest } from './planned-request.ts';
import type { Vocabulary } from './vocabulary.ts';

const WORKER_NAME = 'pipeline-contract';
/** Claims held at a time: few, so that a request often names the task and the token of the same claim. */
const CLAIMS = 2;

const plain = (route: AnyRoute, body?: object): PlannedRequest => ({
  route,
  params: {},
  query: [],
  headers: {},
  ...(body && { body: JSON.stringify(body) }),
});

/** Reads every list that needs no parameter, so that requests can name what is there. */
export async function learnFromReads(
  target: Target,
  goods: (route: AnyRoute) => readonly Credential[],
  into: Vocabulary,
) {
  for (const route of target.surface.routes.filter(isPlainRead)) {
    const [credential] = goods(route);
    if (!credential) continue;
    const outcome = await target.send(plain(route), credential);
    if (outcome.ok && outcome.answer.status === 200) into.learn(route.path, outcome.answer.body);
  }
}

/** Registers a worker and claims tasks, so that requests can report on them. It changes the target. */
export async function claimTasks(target: Target, credential: Credential, into: Vocabulary): Promise<void> {
  const find = (id: string) => target.surface.routes.find((route) => route.id === id);
  const [register, claim] = [find('registerWorker'), find('claimTask')];
  if (!register || !claim) return;
  const taskTypes = TASK_TYPES;
  const registered = await target.send(plain(register, { name: WORKER_NAME, taskTypes }), credential);
  if (!registered.ok || registered.answer.status !== 200) return;
  const { workerId } = JSON.parse(registered.answer.body) as { workerId: string };
  const claimed: { id: string; claimToken: string }[] = [];
  for (let index = 0; index < CLAIMS; index += 1) {
    const outcome = await target.send(plain(claim, { workerId, taskTypes }), credential);
    if (!outcome.ok || outcome.answer.status !== 200) break;
    claimed.push((JSON.parse(outcome.answer.body) as { task: { id: string; claimToken: string } }).task);
  }
  const { path } = claim;
  into.replace(path, 'workerId', [workerId]);
  into.replace(
    path,
    'id',
    claimed.map(({ id }) => id),
  );
  into.replace(
    path,
    'taskId',
    claimed.map(({ id }) => id),
  );
  into.replace(
    path,
    'claimToken',
    claimed.map(({ claimToken }) => claimToken),
  );
}
