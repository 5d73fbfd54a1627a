import { type HostIssue, textHash } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import { svcNow, svcNowPlus } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import { type Params, prepared, preparedWrite } from '../driver/prepared.ts';

/**
 * The host facts of an issue that the pipeline has applied, with the host's timestamps. The row is read and written
 * with the issue's row locked.
 */
export type HostFactsRow = Omit<Selectable<DB['issue_host_facts']>, 'label_times'> & {
  /** When each label was last added or removed, since `labels_at`. */
  label_times: Record<string, string>;
};

const factsOf = prepared('host-facts-of-issue', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db
    .selectFrom('issue_host_facts')
    .select(COLUMNS.issue_host_facts)
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId')),
);

export async function hostFactsOf(db: Db, tenantId: number, issueId: number): Promise<HostFactsRow | undefined> {
  return (await factsOf.first(db, { tenantId, issueId })) as HostFactsRow | undefined;
}

type Admitted = Pick<HostIssue, 'title' | 'body' | 'updatedAt'> & {
  acceptedBy?: string | null;
  /** Login of the assignee (a person); absent = not reported. */
  assignee?: string | null;
};

/**
 * Facts of an admitted issue: everything that the host reported up to then is applied, and its text is the accepted
 * one.
 */
export async function insertHostFacts(tx: Tx, issue: IssueId, admitted: Admitted): Promise<void> {
  const at = admitted.updatedAt;
  await tx
    .insertInto('issue_host_facts')
    .values({
      tenant_id: issue.tenant_id,
      issue_id: issue.id,
      acted_at: at,
      state_at: at,
      labels_at: at,
      text_sha256: textHash(admitted),
      text_at: at,
      text_accepted_by: admitted.acceptedBy ?? null,
      seen_at: svcNow,
      ...(admitted.assignee !== undefined && { assignee: admitted.assignee, assignee_at: at }),
    })
    .execute();
}

/** Writes the whole row. @param applied a webhook was applied, so `seen_at` becomes the store's time. */
export async function saveHostFacts(tx: Tx, facts: HostFactsRow, applied: boolean): Promise<void> {
  const { tenant_id, issue_id, ...rest } = facts;
  const seen_at = applied ? svcNow : rest.seen_at;
  const values = { ...rest, label_times: jsonb(rest.label_times), seen_at };
  await tx
    .insertInto('issue_host_facts')
    .values({ tenant_id, issue_id, ...values })
    .onConflict((c) =>
      c.columns(['tenant_id', 'issue_id']).doUpdateSet((eb) => {
        const columns = Object.keys(values) as (keyof typeof values)[];
        return Object.fromEntries(columns.map((column) => [column, eb.ref(`excluded.${column}`)]));
      }),
    )
    .execute();
}

/** Maximum difference assumed between the host's clock and the store's, where times of both are compared. */
export const CLOCKS_DIFFER_MS = 5_000;

interface IssueId {
  tenant_id: number;
  id: number;
}

const acted = preparedWrite('host-acted-now', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db
    .updateTable('issue_host_facts')
    .set({ acted_at: svcNowPlus(CLOCKS_DIFFER_MS) })
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId')),
);

/**
 * Records that the pipeline ended an issue itself. Until the host reports when it was closed, a request counts only if
 * it is newer than this moment on any clock.
 */
export const actedNow = (tx: Tx, issue: IssueId): Promise<void> =>
  acted.run(tx, { tenantId: issue.tenant_id, issueId: issue.id });

/** Records the host's time of the close that ended an issue. */
export async function actedAt(tx: Tx, issue: IssueId, at: string): Promise<void> {
  await tx
    .updateTable('issue_host_facts')
    .set({ acted_at: at, state_at: at })
    .where('tenant_id', '=', issue.tenant_id)
    .where('issue_id', '=', issue.id)
    .execute();
}

type Commanded = { tenantId: number; issueId: number; at: string | null };

const commandedIn = (db: Db, p: Params<Commanded>, column: 'pause_at' | 'command_at') => {
  // Without a time: the earliest that it can have been by the host's clock.
  const time = sql<string>`coalesce(${p('at')}::timestamptz, ${svcNowPlus(-CLOCKS_DIFFER_MS)})`;
  return db
    .updateTable('issue_host_facts')
    .from(sql<{ time: string }>`(select ${time} as time)`.as('given'))
    .set({ [column]: sql.ref('given.time') })
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where((eb) => eb.or([eb(column, 'is', null), eb(column, '<', eb.ref('given.time'))]));
};

const commanded = {
  pause_at: preparedWrite('host-pause-at', (db, p: Params<Commanded>) => commandedIn(db, p, 'pause_at')),
  command_at: preparedWrite('host-command-at', (db, p: Params<Commanded>) => commandedIn(db, p, 'command_at')),
};

/**
 * Records when a person last paused or resumed an issue (`pause_at`), or ran another command (`command_at`): older host
 * events no longer apply. A later time that is stored already stays.
 * @param at the host's time; null = now, by the store's clock.
 */
export const commandedAt = (
  tx: Tx,
  issue: IssueId,
  column: 'pause_at' | 'command_at',
  at: string | null,
): Promise<void> => commanded[column].run(tx, { tenantId: issue.tenant_id, issueId: issue.id, at });
