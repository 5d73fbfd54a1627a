import { DEFAULT_SETTINGS, DEFAULT_WORKFLOW, type State } from '@pipeline/domain';
import { putRepo } from '@pipeline/engine';
import { ensureTenant, type RepoRow } from '@pipeline/store';
import type { TestDatabase } from '@pipeline/testing';

/** A repo of an organisation, as the monitor enters it from its configuration. */
export async function addRepo(
  database: TestDatabase,
  org: string,
  slug: string,
  enabled = true,
): Promise<{ tenantId: number; repo: RepoRow }> {
  const [owner = '', name = ''] = slug.split('/');
  const tenantId = await ensureTenant(database.store.db, org);
  const engine = {
    store: database.store,
    notify: () => undefined,
    settings: () => DEFAULT_SETTINGS,
    random: () => 0.5,
  };
  const repo = await putRepo(engine, tenantId, {
    slug: { owner, name },
    vcsHost: 'sandbox',
    cloneUrl: '',
    defaultBranch: 'main',
    setupCommand: null,
    poolSize: null,
    installationId: null,
    enabled,
  });
  return { tenantId, repo };
}

export async function addIssue(database: TestDatabase, repo: RepoRow, number: number, state: State): Promise<void> {
  const at = '2026-01-01T00:00:00.000Z';
  await database.db
    .insertInto('issues')
    .values({
      tenant_id: repo.tenant_id,
      repo_id: repo.id,
      issue_number: number,
      title: '',
      body: '',
      url: '',
      state,
      host_created_at: at,
      host_updated_at: at,
    })
    .execute();
}

/** The default workflow without the edges of a state on a trigger. */
export const workflowWithout = (from: State, trigger: string) => ({
  ...DEFAULT_WORKFLOW,
  edges: DEFAULT_WORKFLOW.edges.filter((edge) => edge.from !== from || edge.trigger !== trigger),
});

/** Lists the actions of operators on a repo, from its events, oldest first. */
export async function deedsOn(database: TestDatabase, repo: RepoRow): Promise<Record<string, unknown>[]> {
  const rows = await database.db
    .selectFrom('pipeline_events')
    .select(['agent', 'payload'])
    .where('repo_id', '=', repo.id)
    .where('event_type', '=', 'operator_action')
    .orderBy('id')
    .execute();
  return rows.map(({ agent, payload }) => ({ agent, ...(payload as object) }));
}
