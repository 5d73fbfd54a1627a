import { type Kysely, sql } from 'kysely';

/**
 * The agents that a repo compares, the agent of a compared task ('' = any agent), the agents of a worker, and the agent
 * of a model call. The agent is a column of the two indexes of the claim: a claim must not read past the tasks of
 * agents that its worker does not run. They replace the indexes without it; a process of an earlier release claims by
 * tasks_turn meanwhile, without regard to the agent.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.repos add column compare jsonb`.execute(db);
  await sql`alter table pipeline.tasks add column compared_agent text not null default ''`.execute(db);
  await sql`alter table pipeline.runs add column compared_agent text not null default ''`.execute(db);
  await sql`alter table pipeline.workers add column agents text[] not null default '{}'`.execute(db);
  await sql`alter table pipeline.agent_invocations add column agent text`.execute(db);
  await sql`
    create index tasks_claim_by_agent on pipeline.tasks (tenant_id, task_type, compared_agent, priority, turn, id)
      where status = 'pending' and held is null`.execute(db);
  await sql`
    create index tasks_claim_by_agent_in_repo
      on pipeline.tasks (tenant_id, repo_id, task_type, compared_agent, priority, turn, id)
      where status = 'pending' and held is null`.execute(db);
  await sql`drop index pipeline.tasks_claim, pipeline.tasks_claim_in_repo`.execute(db);
  // For the check whether a claim has to ask for compared tasks at all, and for their release.
  await sql`create index tasks_compared on pipeline.tasks (tenant_id) where compared_agent <> ''`.execute(db);
}
