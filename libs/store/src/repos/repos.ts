import {
  type CheckPolicy,
  type Comparison,
  type MergeMethod,
  type MergeTrain,
  type Slug,
  slugKey,
  type WorkflowSnapshot,
} from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote, jsonb } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

export type RepoRow = Selectable<DB['repos']>;

/** Settings of a repo that may be absent: as stored then. */
export interface RepoSettings {
  /** Checks that a merge waits for; at first `required`. */
  checks?: CheckPolicy | undefined;
  /** Preferred way of merging; at first `squash`. */
  mergeMethod?: MergeMethod | undefined;
  /** Setting that merges pull requests one after another; at first `off`. */
  mergeTrain?: MergeTrain | undefined;
  /** Rounds without progress before a person is asked; at first 3. */
  maxRounds?: number | undefined;
  /** Weights of the agents that are compared, by task type; null = none. */
  compare?: Comparison | null | undefined;
}

export interface RepoInput extends RepoSettings {
  slug: Slug;
  vcsHost: 'github' | 'sandbox';
  /** Its id on the host; null and absent = as stored. */
  hostId?: number | null;
  cloneUrl: string;
  defaultBranch: string;
  setupCommand: string | null;
  poolSize: number | null;
  installationId: number | null;
  enabled: boolean;
}

/** Inserts or updates a repo of a tenant, a removed one too. Never disables it, and keeps its known installation. */
export async function upsertRepo(tx: Tx, tenantId: number, input: RepoInput): Promise<RepoRow> {
  const values = {
    owner: input.slug.owner,
    name: input.slug.name,
    vcs_host: input.vcsHost,
    clone_url: input.cloneUrl,
    default_branch: input.defaultBranch,
    setup_command: input.setupCommand,
    pool_size: input.poolSize,
    ...(input.checks && { checks_policy: input.checks }),
    ...(input.mergeMethod && { merge_method: input.mergeMethod }),
    ...(input.mergeTrain && { merge_train: input.mergeTrain }),
    ...(input.maxRounds !== undefined && { max_rounds: input.maxRounds }),
    ...(input.compare !== undefined && { compare: input.compare && jsonb(input.compare) }),
  };
  return tx
    .insertInto('repos')
    .values({
      ...values,
      tenant_id: tenantId,
      slug_key: slugKey(input.slug),
      installation_id: input.installationId,
      host_id: input.hostId ?? null,
      enabled: input.enabled,
    })
    .onConflict((c) =>
      c.columns(['tenant_id', 'slug_key']).doUpdateSet((eb) => ({
        ...values,
        installation_id: sql<number | null>`coalesce(excluded.installation_id, repos.installation_id)`,
        host_id: sql<number | null>`coalesce(excluded.host_id, repos.host_id)`,
        enabled: sql<boolean>`repos.enabled or excluded.enabled`,
        removed_at: null,
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

interface AnnouncedRepo {
  slug: Slug;
  /** null = not reported. */
  hostId: number | null;
  installationId: number;
  cloneUrl: string;
}

/** Inserts a repo that was added to the host's app, disabled. An existing one keeps its configuration. */
export async function announceRepo(
  tx: Tx,
  tenantId: number,
  { slug, hostId, installationId, cloneUrl }: AnnouncedRepo,
): Promise<number> {
  const row = await tx
    .insertInto('repos')
    .values({
      tenant_id: tenantId,
      owner: slug.owner,
      name: slug.name,
      slug_key: slugKey(slug),
      vcs_host: 'github',
      host_id: hostId,
      clone_url: cloneUrl,
      installation_id: installationId,
    })
    .onConflict((c) =>
      c.columns(['tenant_id', 'slug_key']).doUpdateSet((eb) => ({
        installation_id: eb.ref('excluded.installation_id'),
        host_id: sql<number | null>`coalesce(excluded.host_id, repos.host_id)`,
        removed_at: null,
      })),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** All enabled repos with that slug, one per tenant; almost always one. */
export const findReposBySlug = (fleet: Db, slug: Slug): Promise<RepoRow[]> =>
  fleet
    .selectFrom('repos')
    .modifyFront(fleetNote('webhooks know a repo by its slug alone'))
    .selectAll()
    .where('slug_key', '=', slugKey(slug))
    .where('enabled', '=', true)
    .execute();

export const enabledRepos = (fleet: Db): Promise<RepoRow[]> =>
  fleet
    .selectFrom('repos')
    .modifyFront(fleetNote('loops serve every repo'))
    .selectAll()
    .where('enabled', '=', true)
    .orderBy('id')
    .execute();

interface RepoKey {
  tenantId: number;
  repoId: number;
}

const byId = prepared('repo-by-id', (db, p: Params<RepoKey>) =>
  db.selectFrom('repos').select(COLUMNS.repos).where('tenant_id', '=', p('tenantId')).where('id', '=', p('repoId')),
);

export async function repoById(db: Db, tenantId: number, repoId: number): Promise<RepoRow> {
  const repo = await byId.first(db, { tenantId, repoId });
  if (!repo) throw new Error(`tenant ${tenantId} has no repo ${repoId}`);
  return repo;
}

/** The ids of a tenant's enabled repos among these slugs; unknown ones are left out. */
export async function repoIdsOf(db: Db, tenantId: number, slugs: Slug[]): Promise<number[]> {
  if (slugs.length === 0) return [];
  const rows = await db
    .selectFrom('repos')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('enabled', '=', true)
    .where('slug_key', 'in', slugs.map(slugKey))
    .execute();
  return rows.map((row) => row.id);
}

const workflow = prepared('active-workflow', (db, p: Params<RepoKey>) =>
  db
    .selectFrom('workflow_snapshots')
    .select('body')
    .where('tenant_id', '=', p('tenantId'))
    .where('repo_id', '=', p('repoId'))
    .where('active', '=', sql.lit(true)),
);

export async function activeWorkflow(db: Db, tenantId: number, repoId: number): Promise<WorkflowSnapshot | null> {
  const row = await workflow.first(db, { tenantId, repoId });
  return row ? (row.body as unknown as WorkflowSnapshot) : null;
}

/** Gives a repo its first workflow; a repo that has one keeps it. */
export async function seedWorkflow(
  tx: Tx,
  tenantId: number,
  repoId: number,
  workflow: WorkflowSnapshot,
): Promise<void> {
  await tx
    .insertInto('workflow_snapshots')
    .values({
      tenant_id: tenantId,
      repo_id: repoId,
      version: workflow.version,
      active: true,
      body: jsonb(workflow),
    })
    .onConflict((c) => c.columns(['tenant_id', 'repo_id', 'version']).doNothing())
    .execute();
}

interface SyncState {
  etag: string | null;
  /** Host time of the newest change that was read; null = the repo was never read. */
  cursor: string | null;
}

export async function syncStateOf(db: Db, tenantId: number, repoId: number): Promise<SyncState> {
  const row = await db
    .selectFrom('repo_sync')
    .select(['etag', 'cursor'])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .executeTakeFirst();
  return row ?? { etag: null, cursor: null };
}

export async function saveSyncState(
  db: Db,
  tenantId: number,
  repoId: number,
  state: SyncState & { error: string | null },
): Promise<void> {
  await db
    .insertInto('repo_sync')
    .values({ tenant_id: tenantId, repo_id: repoId, ...state, polled_at: svcNow })
    .onConflict((c) =>
      c.columns(['tenant_id', 'repo_id']).doUpdateSet((eb) => ({ ...state, polled_at: eb.ref('excluded.polled_at') })),
    )
    .execute();
}

export const repoByKey = (db: Db, tenantId: number, slug: Slug): Promise<RepoRow | undefined> =>
  db
    .selectFrom('repos')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('slug_key', '=', slugKey(slug))
    .where('enabled', '=', true)
    .executeTakeFirst();
