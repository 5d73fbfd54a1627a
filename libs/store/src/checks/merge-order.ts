import type { TrainCar, TrainFront } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { RepoRow } from '../repos/repos.ts';

interface RepoKey {
  tenantId: number;
  repoId: number;
}

/** Returns whether a repo merges one pull request after another, because its host has no merge queue. */
export const isSerial = (repo: RepoRow): boolean => repo.merge_train === 'serial';

const locked = prepared(
  'lock-train-front',
  (_db, p: Params<RepoKey>) => sql<{ prNumber: number | null; updatedHead: string | null; ageMs: number }>`
    select train_pr as "prNumber", train_head as "updatedHead",
      coalesce(extract(epoch from svc_now() - train_since) * 1000, 0)::float8 as "ageMs"
    from repos where tenant_id = ${p('tenantId')} and id = ${p('repoId')} for no key update`,
);

/**
 * Locks the choice of the pull request that merges next in a repo, until the transaction ends. Locks of issues and
 * outbox entries come before it.
 * @returns the front; null = none was chosen yet.
 */
export async function lockTrainFront(tx: Tx, key: RepoKey): Promise<TrainFront | null> {
  const row = await locked.first(tx, { ...key });
  return row?.prNumber ? { ...row, prNumber: row.prNumber } : null;
}

const cars = prepared(
  'train-cars',
  (_db, p: Params<RepoKey & { front: number }>) => sql<TrainCar>`
    with entry as (
      select id, issue_number, status, attempt_started_at, error, retry_after, action ->> 'type' as type,
        (action ->> 'prNumber')::integer as pr
      from projections
      where tenant_id = ${p('tenantId')} and repo_id = ${p('repoId')} and status in ('pending', 'failed') and lane = 'pr'
    ), merge as (select id, pr, attempt_started_at from entry where type = 'mergePR' and status = 'pending')
    select r.number as "prNumber", r.head_sha as "headSha", i.state, i.is_paused as "isPaused", m.id as "mergeId",
      m.attempt_started_at is not null as "isInDoubt",
      exists (select from entry u where u.issue_number = i.issue_number and u.type = 'updateBranch'
        and u.status = 'pending') as "isUpdating",
      exists (select from entry e where e.issue_number = i.issue_number and (m.id is null or e.id <= m.id)
        and (e.status = 'failed' or (e.retry_after > svc_now() and (e.id is distinct from m.id or e.error is not null)))
      ) as "isHeldUp"
    from pull_requests r
    join issues i on i.tenant_id = r.tenant_id and i.id = r.issue_id
    left join merge m on m.pr = r.number
    where r.tenant_id = ${p('tenantId')} and r.repo_id = ${p('repoId')} and r.state = 'open'
      and r.number in (select pr from merge union all select ${p('front')}::integer)
    order by m.id`,
);

/**
 * The pull requests of a repo that have a pending merge, and its front. Reads the open outbox entries of the repo (index
 * projections_open) and one pull request and issue for each merge. @param front 0 = none.
 */
export const trainCars = (tx: Tx, key: RepoKey, front: number): Promise<TrainCar[]> => cars.all(tx, { ...key, front });

/** Makes a pull request the front of its repo from now on; null = none is. */
export async function setTrainFront(tx: Tx, { tenantId, repoId }: RepoKey, prNumber: number | null): Promise<void> {
  await tx
    .updateTable('repos')
    .set({ train_pr: prNumber, train_head: null, train_since: prNumber === null ? null : svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', repoId)
    .execute();
}

/** Restarts the time of the front, if the pull request is it. @param updatedHead the head that our update made. */
export async function touchTrainFront(
  tx: Tx,
  { tenantId, repoId, prNumber }: RepoKey & { prNumber: number },
  updatedHead?: string,
): Promise<void> {
  await tx
    .updateTable('repos')
    .set({ train_since: svcNow, ...(updatedHead !== undefined && { train_head: updatedHead }) })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', repoId)
    .where('train_pr', '=', prNumber)
    .execute();
}

/**
 * Makes the waiting merges of a repo due, so that the next one goes on at once. Entries that another transaction holds
 * are left out: they are due after `checks.pollSeconds`. Reads the open entries of the repo (index projections_open).
 */
export async function hastenTrain(tx: Tx, { tenantId, repoId }: RepoKey): Promise<void> {
  await tx
    .updateTable('projections')
    .set({ retry_after: null, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('projections')
        .select('id')
        .where('tenant_id', '=', tenantId)
        .where('repo_id', '=', repoId)
        .where('status', '=', sql.lit('pending'))
        .where('lane', '=', sql.lit('pr'))
        .where('retry_after', 'is not', null)
        .where('error', 'is', null)
        .where('attempt_started_at', 'is', null)
        .where(sql<boolean>`action ->> 'type' = 'mergePR'`)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
}
