import { type HostIssue, textHash } from '@pipeline/domain';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { svcNow, svcNowPlus } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/**
 * The host facts of an issue that the pipeline has applied, with the host's timestamps. The row is read and written
 * with the issue's row locked.
 */
export type HostFactsRow = Omit<Selectable<DB['issue_host_facts']>, 'label_times'> & {
  /** Time at which each label was last added or removed, since `labels_at`. */
  label_times: Record<string, string>;
};

const FACTS = COLUMNS.issue_host_facts;

const factsOf = prepared('host-facts-of-issue', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db
    .selectFrom('issue_host_facts')
    .select(FACTS)
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId')),
);

export async function hostFactsOf(db: Db, tenantId: number, issueId: number): Promise<HostFactsRow | undefined> {
  return (await factsOf.first(db, { tenantId, issueId })) as HostFactsRow | undefined;
}

const factsOfNumber = prepared(
  'host-facts-of-number',
  (db, p: Params<{ tenantId: number; repoId: number; number: number }>) =>
    db
      .selectFrom('issue_host_facts as f')
      .innerJoin('issues as i', (join) => join.onRef('i.id', '=', 'f.issue_id').on('i.tenant_id', '=', p('tenantId')))
      .select(FACTS.map((column) => `f.${column}` as const))
      .where('f.tenant_id', '=', p('tenantId'))
      .where('i.repo_id', '=', p('repoId'))
      .where('i.issue_number', '=', p('number')),
);

/** The same for an issue that is known by its number, so that it is read together with its lock. */
export async function hostFactsOfNumber(
  tx: Tx,
  tenantId: number,
  place: { repoId: number; number: number },
): Promise<HostFactsRow | undefined> {
  return (await factsOfNumber.first(tx, { tenantId, ...place })) as HostFactsRow | undefined;
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
export const factsOfAdmitted = ({ updatedAt: at, assignee, acceptedBy = null, ...text }: Admitted) => ({
  acted_at: at,
  state_at: at,
  labels_at: at,
  text_sha256: textHash(text),
  text_at: at,
  text_accepted_by: acceptedBy,
  ...(assignee !== undefined && { assignee, assignee_at: at }),
});

type FactColumns = Omit<HostFactsRow, 'label_times'> & { label_times: string };

const CHANGING = FACTS.filter((column) => column !== 'tenant_id' && column !== 'issue_id');

const saving = (p: Params<FactColumns>, own: Partial<Record<keyof FactColumns, RawBuilder<unknown>>>) => sql`
    insert into issue_host_facts (${sql.join(FACTS.map((column) => sql.ref(column)))})
    values (${sql.join(FACTS.map((column) => own[column] ?? p(column)))})
    on conflict (tenant_id, issue_id) do update
      set ${sql.join(CHANGING.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`))}`;

const save = prepared('save-host-facts', (_db, p: Params<FactColumns>) => saving(p, {}));
const saveSeen = prepared('save-seen-host-facts', (_db, p: Params<FactColumns>) => saving(p, { seen_at: svcNow }));

/** Writes the whole row. @param applied a webhook was applied, so `seen_at` becomes the store's time. */
export const saveHostFacts = (tx: Tx, facts: HostFactsRow, applied: boolean): Promise<void> =>
  (applied ? saveSeen : save).run(tx, { ...facts, label_times: JSON.stringify(facts.label_times) });

/** Maximum difference assumed between the host's clock and the store's, where times of both are compared. */
export const CLOCKS_DIFFER_MS = 5_000;

interface IssueId {
  tenant_id: number;
  id: number;
}

const acted = prepared('host-acted-now', (db, p: Params<{ tenantId: number; issueId: number }>) =>
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

const closedAt = prepared('host-closed-at', (db, p: Params<{ tenantId: number; issueId: number; at: string }>) =>
  db
    .updateTable('issue_host_facts')
    .set({ acted_at: p('at'), state_at: p('at') })
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId')),
);

/** Records the host's time of the close that ended an issue. */
export const actedAt = (tx: Tx, issue: IssueId, at: string): Promise<void> =>
  closedAt.run(tx, { tenantId: issue.tenant_id, issueId: issue.id, at });

type Commanded = { tenantId: number; issueId: number; at: string | null };

/** Without a time: the earliest that it can have been by the host's clock. */
const given = (p: Params<Commanded>) =>
  sql<{ time: string }>`(select coalesce(${p('at')}::timestamptz, ${svcNowPlus(-CLOCKS_DIFFER_MS)}) as time)`.as(
    'given',
  );

const commandedIn = (db: Db, p: Params<Commanded>, column: 'pause_at' | 'command_at') =>
  db
    .updateTable('issue_host_facts')
    .from(given(p))
    .set({ [column]: sql.ref('given.time') })
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where((eb) => eb.or([eb(column, 'is', null), eb(column, '<', eb.ref('given.time'))]));

const commanded = {
  pause_at: prepared('host-pause-at', (db, p: Params<Commanded>) => commandedIn(db, p, 'pause_at')),
  command_at: prepared('host-command-at', (db, p: Params<Commanded>) => commandedIn(db, p, 'command_at')),
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
