import { type Kysely, sql } from 'kysely';

/**
 * The queue. `tasks` holds live tasks only; every claim has a row in `runs`, which is kept. Finishing deletes the task
 * and closes the run, so the claim's index never grows with history.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['run_id', 'artefact_id']) {
    await sql`create sequence pipeline.${sql.ref(`${name}_seq`)}`.execute(db);
  }
  await sql`
    create table pipeline.tasks (
      tenant_id bigint not null,
      id uuid not null,
      work_id uuid not null,
      repo_id bigint not null,
      issue_id bigint,
      issue_number integer not null default 0,
      task_type text not null,
      status text not null default 'pending',
      priority integer not null,
      turn bigint not null,
      held text,
      run_after timestamptz,
      attempt integer not null default 0,
      max_attempts integer not null,
      handover_run_id bigint,
      run_id bigint,
      claimed_by text,
      claimed_at timestamptz,
      started_at timestamptz,
      progress_at timestamptz,
      lease_expires_at timestamptz,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos,
      foreign key (tenant_id, issue_id) references pipeline.issues
    ) with (
      fillfactor = 70,
      autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_threshold = 2000,
      autovacuum_vacuum_cost_delay = 0
    )`.execute(db);
  // The rule "one active work task per issue"; side tasks (retrospect, scan) do not count.
  await sql`
    create unique index tasks_one_work_per_issue on pipeline.tasks (tenant_id, issue_id)
    where task_type in ('analyze', 'plan', 'develop', 'review', 'merge')`.execute(db);
  // The claim: equality on tenant and type, then in claim order. Held and claimed rows are not in it.
  await sql`
    create index tasks_claim on pipeline.tasks (tenant_id, task_type, priority, turn, id)
    where status = 'pending' and held is null`.execute(db);
  await sql`
    create index tasks_claim_in_repo on pipeline.tasks (tenant_id, repo_id, task_type, priority, turn, id)
    where status = 'pending' and held is null`.execute(db);
  // Two probes give a new task its turn: the lowest of its queue and the highest of its repo in that queue.
  await sql`
    create index tasks_turn on pipeline.tasks (tenant_id, task_type, priority, turn) where status = 'pending'`.execute(
    db,
  );
  await sql`
    create index tasks_turn_in_repo on pipeline.tasks (tenant_id, repo_id, task_type, priority, turn)
    where status = 'pending'`.execute(db);
  await sql`create index tasks_leases on pipeline.tasks (lease_expires_at) where status = 'claimed'`.execute(db);
  await sql`create index tasks_held_due on pipeline.tasks (run_after) where held is not null`.execute(db);
  await sql`
    create table pipeline.runs (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.run_id_seq'),
      task_id uuid not null,
      work_id uuid not null,
      repo_id bigint not null,
      issue_id bigint,
      issue_number integer not null default 0,
      task_type text not null,
      attempt integer not null,
      agent text not null,
      worker_id text not null,
      claim_token_hash text not null,
      status text not null default 'claimed',
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
      cost_usd numeric(14,6) not null default 0,
      primary key (tenant_id, id)
    ) with (fillfactor = 80)`.execute(db);
  await sql`create unique index runs_by_token on pipeline.runs (tenant_id, claim_token_hash)`.execute(db);
  await sql`create index runs_of_issue on pipeline.runs (tenant_id, issue_id, id)`.execute(db);
  await sql`create index runs_of_task on pipeline.runs (tenant_id, task_id)`.execute(db);
  await sql`
    create table pipeline.agent_invocations (
      tenant_id bigint not null,
      run_id bigint not null,
      invocation_index integer not null,
      model text not null,
      provider text not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cache_read_tokens bigint not null,
      cache_write_tokens bigint not null,
      turns integer not null,
      cost_usd numeric(14,6) not null,
      stop_reason text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, run_id, invocation_index)
    )`.execute(db);
  await sql`
    create table pipeline.artefacts (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.artefact_id_seq'),
      run_id bigint not null,
      issue_id bigint,
      kind text not null,
      media_type text not null,
      title text not null,
      body text not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`create index artefacts_of_run on pipeline.artefacts (tenant_id, run_id)`.execute(db);
  await sql`
    create table pipeline.workers (
      tenant_id bigint not null references pipeline.tenants,
      id text not null,
      name text not null,
      hostname text not null,
      version text not null,
      repos text[] not null,
      task_types text[] not null,
      labels jsonb not null,
      status text not null,
      draining boolean not null default false,
      registered_at timestamptz not null,
      last_heartbeat_at timestamptz,
      primary key (tenant_id, id),
      unique (tenant_id, name)
    )`.execute(db);
  // Local to the coordinator: a token must be unique over all tenants, because it identifies its tenant.
  await sql`
    create table pipeline.worker_tokens (
      id uuid primary key,
      tenant_id bigint not null,
      name text not null,
      token_hash text not null unique,
      repo_ids bigint[],
      created_at timestamptz not null default pipeline.svc_now(),
      revoked_at timestamptz
    )`.execute(db);
}
