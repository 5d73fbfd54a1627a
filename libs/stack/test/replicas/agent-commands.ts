import { OUTCOMES_OF, type Outcome } from '@pipeline/domain';
import { ERRORS, FINDING, type Held, invocations, outcomeOf, type World } from '@pipeline/engine/model';
import type { Answer, Scene } from './scene.ts';

const on = ({ task }: Held, verb: string): string => `/tasks/${task.id}/${verb}`;
const refOf = ({ task }: Held) => ({ claimToken: task.claimToken });

export async function take(scene: Scene, worker: string, starts = true): Promise<Held | null> {
  const wish = { workerId: worker, taskTypes: ['analyze', 'plan', 'develop', 'review', 'merge', 'retrospect'] };
  const { status, body } = await scene.work('/claim', { ...wish, waitMs: 0 });
  if (status !== 200) return null;
  const held: Held = { worker, task: body.task, costUsd: 0, working: starts };
  scene.held.push(held);
  if (starts) await scene.work(on(held, 'start'), refOf(held));
  return held;
}

/** Branches and commits are real: what is submitted is pushed, and what is merged is the head that was claimed. */
async function outcomeFor({ host, costs }: Scene, held: Held, index: number): Promise<Outcome> {
  const world = { costs, shas: held.costUsd, host: { state: { branches: new Map() } } } as unknown as World;
  const said = outcomeOf(world, held, index);
  if (said.outcome !== 'submitted') return said;
  const branch = held.task.payload.branch ?? said.result.branch;
  return { ...said, result: { ...said.result, branch, headSha: await host.push(branch) } };
}

export interface Ending {
  outcome: number;
  blocking: boolean;
  usd: number;
}

/** Says it twice, each time to another replica: the second must get the answer of the first. */
async function say(scene: Scene, held: Held, verb: string, body: object): Promise<Answer> {
  const first = await scene.work(on(held, verb), { ...refOf(held), ...body });
  const second = await scene.work(on(held, verb), { ...refOf(held), ...body });
  if (first.status !== second.status || JSON.stringify(first.body.state) !== JSON.stringify(second.body.state))
    throw new Error(`${verb} was answered ${JSON.stringify([first, second])}`);
  return first;
}

export async function finish(scene: Scene, held: Held, ending: Ending): Promise<void> {
  const outcome = await outcomeFor(scene, held, ending.outcome);
  held.costUsd += ending.usd;
  const findings = ending.blocking ? [FINDING] : [];
  const body = { ...outcome, artefacts: [], findings, invocations: invocations(scene, held, held.costUsd) };
  held.said = { kind: 'report', body };
  held.working = false;
  await say(scene, held, 'complete', body);
}

async function fails(scene: Scene, held: Held, [errorMessage, errorClass]: [string, string]): Promise<void> {
  held.working = false;
  await say(scene, held, 'fail', { errorMessage, errorClass, invocations: invocations(scene, held, held.costUsd) });
}

const heldAt = ({ held }: Scene, back: number): Held | undefined => held[held.length - 1 - back];
const workerAt = ({ workers }: Scene, index: number): string => workers[index] ?? '';
const SPLIT = OUTCOMES_OF.analyze.indexOf('split');

/** What the model's agent steps are over HTTP, by their names. */
export const AGENT_COMMANDS = {
  async claim(scene: Scene, data: { worker: number; starts: boolean }) {
    await take(scene, workerAt(scene, data.worker), data.starts);
  },
  async report(scene: Scene, data: Ending & { back: number }) {
    const held = heldAt(scene, data.back);
    if (held && held.said === undefined) await finish(scene, held, data);
  },
  async fail(scene: Scene, data: { back: number; fresh: boolean; error: number; usd: number }) {
    const held = data.fresh ? await take(scene, workerAt(scene, 0)) : heldAt(scene, data.back);
    const error = ERRORS[data.error];
    if (!held || !error) return;
    held.costUsd += data.usd;
    await fails(scene, held, error);
  },
  async sayAgain(scene: Scene, back: number) {
    const held = heldAt(scene, back);
    if (held?.said?.kind === 'report') await scene.work(on(held, 'complete'), { ...refOf(held), ...held.said.body });
  },
  async progress(scene: Scene, data: { back: number; usd: number }) {
    const held = heldAt(scene, data.back);
    if (!held) return;
    const costUsd = held.costUsd + data.usd;
    const told = invocations({ costs: new Map() }, held, costUsd);
    const { status } = await scene.work(on(held, 'progress'), { ...refOf(held), status: 'at it', invocations: told });
    if (status !== 200) return;
    held.costUsd = costUsd;
    invocations(scene, held, costUsd);
  },
  async heartbeat(scene: Scene, data: { worker: number; status: string }) {
    const workerId = workerAt(scene, data.worker);
    const mine = scene.held.filter((held) => held.worker === workerId && held.working);
    const tasks = mine.map(({ task }) => ({ taskId: task.id, claimToken: task.claimToken }));
    const { body } = await scene.work('/heartbeat', { workerId, status: data.status, tasks });
    for (const held of mine)
      if (data.status === 'leaving' || body.cancelTaskIds.includes(held.task.id)) held.working = false;
  },
  async vanish(scene: Scene, data: { worker: number; comesBack: boolean }) {
    for (const held of scene.held) if (held.worker === workerAt(scene, data.worker)) held.working = false;
    // The replica that it spoke with dies too.
    if (!data.comesBack) return scene.kill('hosted-api');
    const id = await scene.register(`w${data.worker + 1}`);
    if (id !== workerAt(scene, data.worker)) throw new Error(`the worker came back as ${id}`);
  },
  async work(scene: Scene, data: { outcome: number; usd: number }) {
    const held = await take(scene, workerAt(scene, 0));
    if (held) await finish(scene, held, { ...data, blocking: false });
  },
  async workOn(scene: Scene, tasks: number) {
    for (let i = 0; i < tasks; i += 1) {
      const held = await take(scene, workerAt(scene, 0));
      if (held) await finish(scene, held, { outcome: 0, usd: 1, blocking: false });
    }
  },
  /** A monitor dies while the host makes the parts of an issue. */
  async crashAfterWrites(scene: Scene) {
    const held = await take(scene, workerAt(scene, 0));
    if (!held) return;
    await finish(scene, held, { outcome: held.task.taskType === 'analyze' ? SPLIT : 0, usd: 1, blocking: false });
    await scene.kill('monitor');
  },
};
