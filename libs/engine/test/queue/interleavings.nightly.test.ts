import { expect, test } from '@jest/globals';
import { AppError, type Outcome } from '@pipeline/domain';
import {
  type ClaimedTask,
  claim,
  fail,
  reclaimExpired,
  registerWorker,
  releaseDue,
  report,
  start,
} from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import fc from 'fast-check';
import { sql } from 'kysely';
import {
  ALL_TASKS,
  applyHostIssue,
  type Bench,
  drain,
  goodOutcome,
  hostIssue,
  listsAgreeAfterEach,
  makeBench,
  refOf,
  step,
  WORKER,
} from '../harness.ts';

const database = testDatabase();
listsAgreeAfterEach(database);
const ISSUES = 3;
const WORKERS = 4;
const START = Date.parse('2026-03-01T00:00:00Z');

type Command =
  | { kind: 'work'; end: 'good' | 'bad' | 'twice' | 'send-back' }
  | { kind: 'crash' }
  | { kind: 'late' }
  | { kind: 'upkeep' }
  | { kind: 'outbox' }
  | { kind: 'clock'; seconds: number };

/** The next action of one of several workers, or of their environment. */
const Commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('work' as const),
        end: fc.constantFrom('good' as const, 'bad' as const, 'twice' as const, 'send-back' as const),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ kind: 'crash' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'late' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'upkeep' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'outbox' as const }) },

    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('clock' as const), seconds: fc.integer({ min: 20, max: 700 }) }),
    },
  ),
  { minLength: 10, maxLength: 48 },
);

interface World {
  bench: Bench;
  workers: string[];
  /** Claims whose holder is silent. */
  silent: ClaimedTask[];
}

let runs = 0;

async function makeWorld(): Promise<World> {
  runs += 1;
  database.clock.now = new Date(START);
  // Attempts are never used up here: every issue can always reach its end.
  const bench = await makeBench(database.store, { slug: `acme/world-${runs}`, settings: { maxAttempts: 1_000 } });
  const workers: string[] = [];
  for (let i = 0; i < WORKERS; i += 1) {
    workers.push(await registerWorker(bench.engine, bench.tenantId, { ...WORKER, name: `w${runs}-${i}` }));
  }
  for (let number = 1; number <= ISSUES; number += 1) await applyHostIssue(bench, hostIssue(number));
  return { bench, workers, silent: [] };
}

const outcomeOf = (task: ClaimedTask, end: string): Outcome =>
  end === 'send-back' && task.taskType === 'review'
    ? { outcome: 'changes-requested', result: { body: 'again', comments: [] } }
    : goodOutcome(task.taskType, task.issueNumber ?? 0);

/** A refused report is a valid response, any other error is a defect. */
const orRefused = async <T>(work: Promise<T>): Promise<T | string> =>
  work.catch((error: unknown) => {
    if (error instanceof AppError && ['CLAIM_LOST', 'TASK_CANCELLED'].includes(error.code)) return error.code;
    throw error;
  });

async function run(world: World, workerId: string, command: Command): Promise<void> {
  const { bench, silent } = world;
  const { engine, tenantId, repo } = bench;
  switch (command.kind) {
    case 'clock':
      database.clock.now = new Date((database.clock.now?.getTime() ?? START) + command.seconds * 1_000);
      return;
    case 'upkeep':
      await reclaimExpired(engine);
      await releaseDue(engine);
      return;
    case 'outbox':
      return drain(bench);
    case 'late': {
      const task = silent.pop();
      if (task) await orRefused(send(bench, task, 'good'));
      return;
    }
    default: {
      const task = await claim(engine, { tenantId, workerId, taskTypes: ALL_TASKS, repoIds: [repo.id] });
      if (!task) return;
      if (command.kind === 'crash') return void silent.push(task);
      await orRefused(start(engine, refOf(bench, task)));
      await orRefused(send(bench, task, command.end));
      if (command.end === 'twice') await orRefused(send(bench, task, command.end));
    }
  }
}

const send = (bench: Bench, task: ClaimedTask, end: string) =>
  end === 'bad'
    ? fail(bench.engine, refOf(bench, task), { errorMessage: 'network down', errorClass: 'transient', invocations: [] })
    : report(bench.engine, refOf(bench, task), {
        ...outcomeOf(task, end),
        artefacts: [],
        findings: [],
        invocations: [],
      });

/** Invariants at every moment. Each query counts violations. */
async function breaches({ bench }: World): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    with mine as (select * from issues where tenant_id = ${bench.tenantId} and repo_id = ${bench.repo.id}),
    work as (select t.* from tasks t join mine i on i.tenant_id = t.tenant_id and i.id = t.issue_id
      where t.task_type <> 'retrospect')
    select
      (select count(*) from (select issue_id from work group by issue_id having count(*) > 1) d) as two_tasks_alive,
      (select count(*) from mine i where state = 'done' and exists
        (select from work w where w.issue_id = i.id)) as done_with_a_task,
      (select count(*) from mine i where state not in ('done', 'failure-blocked') and not is_paused
        and not exists (select from work w where w.issue_id = i.id)
        and not exists (select from projections p where p.tenant_id = i.tenant_id and p.issue_id = i.id
          and p.status = 'pending' and p.action ->> 'type' in ('createPR', 'mergePR'))
        and not exists (select from dead_letters d where d.tenant_id = i.tenant_id and d.issue_id = i.id)) as lost,
      (select count(*) from (select task_id from runs r join mine i on i.tenant_id = r.tenant_id and i.id = r.issue_id
        where r.status = 'finished' group by task_id having count(*) > 1) d) as completed_twice,
      (select count(*) from work w where status = 'claimed' and not exists (select from runs r
        where r.tenant_id = w.tenant_id and r.id = w.run_id and r.status = 'claimed')) as claimed_without_run,
      (select count(*) from runs r join mine i on i.tenant_id = r.tenant_id and i.id = r.issue_id
        where r.status = 'claimed' and not exists (select from work w where w.run_id = r.id)) as run_without_task,
      abs((select count(*) from transitions t join mine i on i.tenant_id = t.tenant_id and i.id = t.issue_id)
        - (select count(*) from pipeline_events e join mine i on i.tenant_id = e.tenant_id and i.id = e.issue_id
          where e.event_type = 'state_transition')) as transitions_without_event,
      (select count(*) from dead_letters d join mine i on i.tenant_id = d.tenant_id and i.id = d.issue_id)
        as dead_letters`.execute(database.db);
  return rows[0] ?? {};
}

const NONE = {
  two_tasks_alive: 0,
  done_with_a_task: 0,
  lost: 0,
  completed_twice: 0,
  claimed_without_run: 0,
  run_without_task: 0,
  transitions_without_event: 0,
  dead_letters: 0,
};

/** Ends all holds and leases, then completes all tasks. */
async function finishAll({ bench }: World): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    database.clock.now = new Date((database.clock.now?.getTime() ?? START) + 3_600_000);
    await reclaimExpired(bench.engine);
    await releaseDue(bench.engine);
    await drain(bench);
    const open = await database.db
      .selectFrom('issues')
      .select('id')
      .where('repo_id', '=', bench.repo.id)
      .where('state', '<>', 'done')
      .execute();
    if (open.length === 0) return;
    await step(bench);
  }
}

test('random interleavings of claims, reports, crashes and reclaims lose no task and complete none twice', async () => {
  await fc.assert(
    fc.asyncProperty(Commands, async (commands) => {
      const world = await makeWorld();
      for (let i = 0; i < commands.length; i += WORKERS) {
        const together = commands.slice(i, i + WORKERS);
        await Promise.all(together.map((command, k) => run(world, world.workers[k] ?? '', command)));
        expect(await breaches(world)).toEqual(NONE);
      }
      await finishAll(world);
      expect(await breaches(world)).toEqual(NONE);
      const states = await database.db
        .selectFrom('issues')
        .select('state')
        .where('repo_id', '=', world.bench.repo.id)
        .execute();
      expect(states.map((row) => row.state)).toEqual(Array(ISSUES).fill('done'));
    }),
    { numRuns: 10, endOnFailure: true },
  );
});
