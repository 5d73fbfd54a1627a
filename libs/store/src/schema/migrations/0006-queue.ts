import { type Kysely, sql } from 'kysely';

/** Tasks, their runs, and workers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.tasks (
      tenant_id bigint not null,
      id uuid not null,
      work_id uuid not null,
      repo_id bigint not null,
      issue_id bigint,
      issue_number integer default 0 not null,
      task_type text not null,
      status text default 'pending' not null,
      priority integer not null,
      turn bigint not null,
      held text,
      run_after timestamptz,
      attempt integer default 0 not null,
      max_attempts integer not null,
      handover_run_id bigint,
      run_id bigint,
      claimed_by text,
      claimed_at timestamptz,
      started_at timestamptz,
      progress_at timestamptz,
      lease_expires_at timestamptz,
      created_at timestamptz default pipeline.svc_now() not null,
      ready_at timestamptz default pipeline.svc_now() not null,
      compared_agent text default '' not null,
      primary key (tenant_id, id)
    ) with (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_cost_delay='0')`.execute(
    db,
  );
  await sql`
    create index tasks_claim_by_agent on pipeline.tasks (tenant_id, task_type, compared_agent, priority, turn, id) where ((status = 'pending') and (held is null))`.execute(
    db,
  );
  await sql`
    create index tasks_claim_by_agent_in_repo on pipeline.tasks (tenant_id, repo_id, task_type, compared_agent, priority, turn, id) where ((status = 'pending') and (held is null))`.execute(
    db,
  );
  await sql`
    create index tasks_compared on pipeline.tasks (tenant_id) where (compared_agent <> '')`.execute(db);
  await sql`
    create index tasks_held_by_budget on pipeline.tasks (tenant_id, priority, turn) where (held = 'budget')`.execute(
    db,
  );
  await sql`
    create index tasks_held_due on pipeline.tasks (run_after) where (held is not null)`.execute(db);
  await sql`
    create index tasks_of_worker on pipeline.tasks (tenant_id, claimed_by) where (status = 'claimed')`.execute(db);
  await sql`
    create unique index tasks_one_retrospect_per_issue on pipeline.tasks (tenant_id, issue_id) where (task_type = 'retrospect')`.execute(
    db,
  );
  await sql`
    create unique index tasks_one_scan_per_repo on pipeline.tasks (tenant_id, repo_id) where (task_type = 'code-map-scan')`.execute(
    db,
  );
  await sql`
    create unique index tasks_one_work_per_issue on pipeline.tasks (tenant_id, issue_id) where (task_type in ('analyze', 'plan', 'develop', 'review', 'merge'))`.execute(
    db,
  );
  await sql`
    create index tasks_retried on pipeline.tasks (tenant_id, repo_id) where (attempt > 0)`.execute(db);
  await sql`
    create index tasks_turn on pipeline.tasks (tenant_id, task_type, priority, turn) where (status = 'pending')`.execute(
    db,
  );
  await sql`
    create index tasks_turn_in_repo on pipeline.tasks (tenant_id, repo_id, task_type, priority, turn) where (status = 'pending')`.execute(
    db,
  );
  await sql`
    create sequence pipeline.run_id_seq`.execute(db);
  await sql`
    create table pipeline.runs (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.run_id_seq') not null,
      task_id uuid not null,
      work_id uuid not null,
      repo_id bigint not null,
      issue_id bigint,
      issue_number integer default 0 not null,
      task_type text not null,
      attempt integer not null,
      agent text not null,
      worker_id text not null,
      claim_token_hash text not null,
      status text default 'claimed' not null,
      claimed_at timestamptz not null,
      started_at timestamptz,
      finished_at timestamptz,
      lease_expires_at timestamptz not null,
      outcome text,
      error_message text,
      error_class text,
      error_fingerprint text,
      report_hash text,
      report_answer jsonb,
      cost_usd numeric(24,6) default 0 not null,
      ready_at timestamptz,
      head_sha text,
      compared_agent text default '' not null,
      primary key (tenant_id, id)
    ) with (fillfactor='80')`.execute(db);
  await sql`
    create index runs_by_claim on pipeline.runs using brin (claimed_at)`.execute(db);
  await sql`
    create index runs_by_end on pipeline.runs (finished_at, tenant_id, id) where (finished_at is not null)`.execute(db);
  await sql`
    create unique index runs_by_token on pipeline.runs (tenant_id, claim_token_hash)`.execute(db);
  await sql`
    create index runs_failed_lately on pipeline.runs (finished_at) where (error_fingerprint is not null)`.execute(db);
  await sql`
    create index runs_failed_of_repo on pipeline.runs (tenant_id, repo_id, finished_at desc) where (error_message is not null)`.execute(
    db,
  );
  await sql`
    create index runs_of_agent on pipeline.runs (tenant_id, repo_id, agent, claimed_at)`.execute(db);
  await sql`
    create index runs_of_issue on pipeline.runs (tenant_id, issue_id, id)`.execute(db);
  await sql`
    create index runs_of_worker on pipeline.runs (tenant_id, worker_id, claimed_at)`.execute(db);
  await sql`
    create index runs_retried on pipeline.runs (claimed_at) where (attempt > 0)`.execute(db);
  await sql`
    create table pipeline.workers (
      tenant_id bigint not null,
      id text not null,
      name text not null,
      hostname text not null,
      version text not null,
      repos text[] not null,
      task_types text[] not null,
      labels jsonb not null,
      status text not null,
      draining boolean default false not null,
      registered_at timestamptz not null,
      last_heartbeat_at timestamptz,
      finishing boolean default false not null,
      stalled_since timestamptz,
      left_at timestamptz,
      token_id uuid,
      agents text[] default '{}'::text[] not null,
      primary key (tenant_id, id),
      constraint workers_tenant_id_name_key unique (tenant_id, name),
      foreign key (tenant_id) references pipeline.tenants(id)
    ) with (fillfactor='70')`.execute(db);
  await sql`
    create index workers_by_end on pipeline.workers (left_at) where (left_at is not null)`.execute(db);
  await sql`
    create index workers_by_id on pipeline.workers (id)`.execute(db);
  await sql`
    create index workers_on_floor on pipeline.workers (tenant_id, id) where (left_at is null)`.execute(db);
  await sql`
    create table pipeline.worker_periods (
      tenant_id bigint not null,
      worker_id text not null,
      kind text not null,
      started_at timestamptz not null,
      ended_at timestamptz,
      primary key (tenant_id, worker_id, kind, started_at),
      foreign key (tenant_id, worker_id) references pipeline.workers(tenant_id, id) on delete cascade
    )`.execute(db);
  await sql`
    create index worker_periods_by_end on pipeline.worker_periods (ended_at) where (ended_at is not null)`.execute(db);
  await sql`
    create index worker_periods_degraded on pipeline.worker_periods (started_at) where (kind <> 'online')`.execute(db);
  await sql`
    create unique index worker_periods_open on pipeline.worker_periods (tenant_id, worker_id, kind) where (ended_at is null)`.execute(
    db,
  );
  await sql`
    create table pipeline.worker_tokens (
      id uuid primary key,
      tenant_id bigint not null,
      name text not null,
      token_hash text not null,
      repo_ids bigint[],
      created_at timestamptz default pipeline.svc_now() not null,
      revoked_at timestamptz,
      expires_at timestamptz,
      last_used_at timestamptz,
      task_types text[],
      constraint worker_tokens_token_hash_key unique (token_hash)
    )`.execute(db);
  await sql`
    create table pipeline.agent_restarts (
      agent text primary key,
      attempts integer default 0 not null,
      restarts integer default 0 not null,
      last_restart_at timestamptz,
      last_error text
    )`.execute(db);
}
