import { expect } from '@jest/globals';
import { isOutputLabel, outputLabels } from '@pipeline/domain';
import { checkIssueList } from '@pipeline/store';
import fc, { type AsyncCommand } from 'fast-check';
import { sql } from 'kysely';
import { statusCommentOn } from './host/writes.ts';
import { intakeBreaches } from './rules/intake.ts';
import { breaches } from './rules/invariants.ts';
import { madeTwice } from './rules/made-once.ts';
import { mergeBreaches } from './rules/merges.ts';
import { releaseDelayed } from './steps/late-deliveries.ts';
import { helpEverybody } from './steps/operator-steps.ts';
import { deliver, outbox, upkeep } from './steps/passes.ts';
import { freeBranches } from './steps/push-steps.ts';
import type { Model } from './steps/step.ts';
import { modelOf } from './steps/step-command.ts';
import { finish, take } from './steps/worker.ts';
import { issuesOf, pass, type World } from './world/world.ts';

/** One run, and the checks after it. @throws Error naming the violated rule. */
export async function runModel(real: World, commands: Iterable<AsyncCommand<Model, World>>): Promise<void> {
  const model = { issues: await modelOf(real) };
  await fc.asyncModelRun(() => ({ model, real }), commands);
  await checkEnd(real);
  await checkHelped(real);
}

const ROUNDS = 80;

/** Lets time pass and completes all tasks successfully, until nothing changes any more. */
export async function settleDown(world: World): Promise<void> {
  world.host.troubles.length = 0;
  world.host.nextMerge = null;
  releaseDelayed(world);
  const worker = await world.acts.register('finisher');
  let quiet = 0;
  for (let round = 0; quiet < 2; round += 1) {
    expect(round).toBeLessThan(ROUNDS);
    quiet = (await turn(world, worker)) === 0 ? quiet + 1 : 0;
  }
}

/** @returns how many actions were taken. */
async function turn(world: World, worker: string): Promise<number> {
  let happened = world.host.state.webhooks.length;
  pass(world, 3_600);
  await deliver(world, happened);
  await world.acts.poll();
  await upkeep(world);
  for (let sent = await outbox(world); sent > 0; sent = await outbox(world)) happened += sent;
  for (let held = await take(world, worker); held; held = await take(world, worker)) {
    await finish(world, held, { outcome: 0, blocking: false, usd: 1 });
    happened += 1;
  }
  return happened;
}

/** Issues without progress although they wait for no person, issue or dead letter. */
export const forgotten = sql<{ what: string }>`
  select i.issue_number || ' in ' || i.state as what from issues i
  where i.state not in ('done', 'needs-clarification', 'human-review-ready', 'failure-blocked') and not i.is_paused
    and not exists (select from dead_letters d where d.issue_id = i.id
      and (d.resolved_at is null or d.resolution = 'resolved' and d.resolved_at >= i.state_entered_at))
    and not exists (select from issue_edges e join issues p on p.issue_number = e.parent_issue_number
      where i.state = 'dependency-blocked' and e.kind = 'depends_on' and e.active
        and e.child_issue_number = i.issue_number and p.state <> 'done')
    -- A parent that the pipeline has no record of: the comment names it, and a finding reports the edge.
    and not exists (select from issue_edges e
      where i.state = 'dependency-blocked' and e.kind = 'depends_on' and e.active
        and e.child_issue_number = i.issue_number
        and not exists (select from issues p where p.issue_number = e.parent_issue_number))
    and not exists (select from issue_edges e join issues c on c.issue_number = e.child_issue_number
      where i.state = 'waiting-for-subtasks' and e.kind = 'subtask' and e.active
        and e.parent_issue_number = i.issue_number and c.state <> 'done')`;

/** Lanes with open or discarded writes, where the host need not agree. */
const unsettled = sql<{ issue_number: number; lane: string }>`
  select issue_number, lane from projections where status in ('pending', 'failed')
  union
  select p.issue_number, p.lane from projections p join pipeline_events e
    on e.event_type = 'operator_action' and e.payload ->> 'action' = 'projection-discard'
    and (e.payload ->> 'projectionId')::bigint = p.id`;

/** Compares the host state of every issue with the store. */
export async function disagreements(world: Pick<World, 'database' | 'host'>): Promise<string[]> {
  const { database, host } = world;
  const open = new Set((await unsettled.execute(database.db)).rows.map((row) => `${row.issue_number} ${row.lane}`));
  const rows = await database.db.selectFrom('issues').selectAll().orderBy('issue_number').execute();
  return rows.flatMap((row) => {
    const number = row.issue_number;
    const shown = host.state.issues.get(number);
    const labels = shown?.labels.filter(isOutputLabel).sort();
    const wanted = outputLabels({ state: row.state, isBlocked: row.is_blocked, isPaused: row.is_paused });
    const comment = statusCommentOn(host.state, number) ?? null;
    const found: string[] = [];
    if (!open.has(`${number} labels`) && labels?.join() !== wanted.join()) {
      found.push(`#${number} shows ${labels?.join()} instead of ${wanted.join()}`);
    }
    if (!open.has(`${number} talk`) && comment !== row.status_comment_body) {
      found.push(`#${number} has the comment "${comment}" instead of "${row.status_comment_body}"`);
    }
    // A failed write of labels or of the state holds what polls show of the issue (`pollStatus`).
    const isFollowed = !open.has(`${number} issue`) && !open.has(`${number} labels`);
    if (isFollowed && (shown?.state === 'closed') !== (row.state === 'done')) {
      found.push(`#${number} is ${shown?.state} on the host and ${row.state} here`);
    }
    return found;
  });
}

/** A merge is a merge on both sides; open and closed may differ because of a discarded write. */
async function differentMerges({ database, host }: Pick<World, 'database' | 'host'>): Promise<string[]> {
  const rows = await database.db.selectFrom('pull_requests').select(['number', 'merged', 'merge_sha']).execute();
  return rows.flatMap(({ number, merged, merge_sha }) => {
    const there = host.state.pulls.get(number);
    const same = there?.merged === merged && there.mergeCommitSha === merge_sha;
    return same ? [] : [`!${number}: ${there?.mergeCommitSha ?? 'open'} on the host and ${merge_sha ?? 'open'} here`];
  });
}

/** Checks that time and successful tasks bring every issue from any state to its end, or to a documented stop. */
async function checkEnd(world: World): Promise<void> {
  await settleDown(world);
  expect(await breaches(world)).toEqual({});
  expect((await forgotten.execute(world.database.db)).rows).toEqual([]);
  expect(await disagreements(world)).toEqual([]);
  expect(await differentMerges(world)).toEqual([]);
  expect(await intakeBreaches(world)).toEqual([]);
  expect(await madeTwice(world)).toEqual([]);
  expect(mergeBreaches(world)).toEqual([]);
  const lists = await checkIssueList(world.database.db, world.tenantId);
  expect(lists).toEqual({ missing: 0, surplus: 0, stale: 0, miscounted: 0 });
}

const HELPS = 8;

/** Checks that every issue ends, and nothing is left over, if an operator resolves every stop. */
async function checkHelped(world: World): Promise<void> {
  const isOpen = async () => [...(await issuesOf(world)).values()].filter(({ state }) => state !== 'done');
  for (let help = 0; help === 0 || (await isOpen()).length > 0; help += 1) {
    if (help === HELPS) expect(await isOpen()).toEqual([]);
    freeBranches(world);
    await helpEverybody(world, help);
    await settleDown(world);
  }
  expect(await breaches(world)).toEqual({});
  expect(await disagreements(world)).toEqual([]);
  expect(await differentMerges(world)).toEqual([]);
  const left = sql<{ what: string }>`
    select 'run ' || id as what from runs where status = 'claimed' union all select 'task ' || id from tasks
    union all select 'projection ' || id from projections where status = 'pending'`;
  expect((await left.execute(world.database.db)).rows).toEqual([]);
  expect(mergeBreaches(world)).toEqual([]);
}
