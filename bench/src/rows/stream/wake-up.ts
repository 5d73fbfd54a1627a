import { DEFAULT_SETTINGS, DEFAULT_WORKFLOW } from '@pipeline/domain';
import { type Engine, transitionIssue } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import { inTransaction, Notifications, seedWorkflow } from '@pipeline/store';
import { counter, inLanes, requireEqual } from '../../measure/lanes.ts';
import type { Sample } from '../../measure/sample.ts';
import { Stopwatch } from '../../measure/stopwatch.ts';
import { makeHistory } from '../../ours/history.ts';
import { type OurStore, openOurStore } from '../../ours/store.ts';
import type { Bench, Row } from '../../runner/model.ts';

const LANES = 16;
const ISSUES = 10_000;
const OPERATOR = { type: 'operator', id: 'ann', agent: null } as const;

/**
 * Goal 12: what it costs to wake others. Sixteen clients move issues as an operator does, each move one transaction of
 * the engine: issue, transition, events, live stream, task, outbox of the host. Once the engine notifies after
 * each commit and another session listens, once without a listener. In this process: the engine and its store, no HTTP.
 * Checked: as many transitions, events of both kinds and changes of labels as moves; the listener was woken, if anybody was.
 */
export const wakeUpRow: Row = {
  goal: 12,
  title: 'wake-ups of a lifecycle action',
  async open(bench) {
    const moves = bench.quick ? 600 : 3_000;
    const ours = await openOurStore(bench, 'bench_wake_up');
    await makeHistory(ours, ISSUES, ISSUES);
    await inTransaction(ours.store.db, async (tx) => {
      for (const repoId of ours.repoIds) await seedWorkflow(tx, ours.tenantId, repoId, DEFAULT_WORKFLOW);
    });
    const { rows } = await ours.admin.query<{ id: number }>('select id::int from issues order by id');
    const issueIds = rows.map(({ id }) => id);
    const bells = openBells(bench, ours);
    const next = nextMove(issueIds);
    const contender = (name: string, notify: Engine['notify'] | null) => ({
      name,
      sample: () => moveMany(ours, { moves, next, notify, bells }),
    });
    return {
      cases: [
        {
          title: `operator's move, ${LANES} clients, with wake-up / without`,
          unit: 'commits/s',
          ours: contender('with wake-up', (bell, tenantId) => bells.own.notify(bell, [tenantId])),
          anchors: [{ contender: contender('without', null), bound: { atLeast: 0.85 } }],
        },
      ],
    };
  },
};

interface Bells {
  own: Notifications;
  /** Number of times that the other session was woken. */
  heard(): number;
}

function openBells(bench: Bench, { url }: OurStore): Bells {
  const open = (applicationName: string) => {
    const notifications = new Notifications({ directUrl: url, applicationName, log: silentLogger });
    bench.stack.add(applicationName, () => notifications.close());
    return notifications;
  };
  let heard = 0;
  const own = open('bench-rings');
  const other = open('bench-listens');
  for (const channel of ['svc_tasks', 'svc_projections', 'svc_stream', 'svc_inbox', 'svc_cache'] as const) {
    other.on(channel, () => {
      heard += 1;
    });
  }
  for (const notifications of [own, other]) notifications.start();
  return { own, heard: () => heard };
}

/** Issue after issue, each to and fro between two states once it has come that far. */
function nextMove(issueIds: readonly number[]): () => { issueId: number; to: string } {
  let at = 0;
  return () => {
    const round = Math.floor(at / issueIds.length);
    const issueId = issueIds[at % issueIds.length] ?? 0;
    at += 1;
    return { issueId, to: round % 2 === 0 ? 'planning' : 'ready-for-dev' };
  };
}

interface Moving {
  moves: number;
  next: ReturnType<typeof nextMove>;
  notify: Engine['notify'] | null;
  bells: Bells;
}

async function moveMany(ours: OurStore, { moves, next, notify, bells }: Moving): Promise<Sample> {
  const engine: Engine = {
    store: ours.store,
    notify: notify ?? (() => undefined),
    settings: () => DEFAULT_SETTINGS,
    random: Math.random,
  };
  const before = await traces(ours);
  const heardBefore = bells.heard();
  const more = counter(moves);
  const watch = new Stopwatch(ours.pid);
  watch.begin();
  await inLanes(LANES, async () => {
    if (more() === undefined) return false;
    const { issueId, to } = next();
    await transitionIssue(engine, { tenantId: ours.tenantId, issueId }, to, OPERATOR);
    return true;
  });
  const sample = watch.rate(moves);
  for (const [what, count] of Object.entries(await traces(ours))) {
    requireEqual(what, count - (before[what] ?? 0), moves);
  }
  const isWoken = bells.heard() > heardBefore;
  if (isWoken !== (notify !== null)) throw new Error('the listener was not woken as it should be');
  return sample;
}

/** Counts the rows of which each transition leaves one. */
const traces = async ({ count }: OurStore): Promise<Record<string, number>> => ({
  transitions: await count('transitions'),
  'events of the stream': await count(`stream_outbox where event_type = 'state-transition'`),
  'actions of the operator': await count(`pipeline_events where event_type = 'operator_action'`),
  'changes of labels to send': await count(`projections where status = 'pending' and action->>'type' = 'swapLabels'`),
});
