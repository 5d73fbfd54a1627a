import { type Kysely, sql } from 'kysely';
import { createPartitions } from './partitions.ts';

/** Findings, what was learned from them, and what agents wrote. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.findings (
      tenant_id bigint not null,
      id uuid not null,
      repo_id bigint not null,
      issue_id bigint,
      pr_number integer,
      run_id bigint,
      agent_name text not null,
      finding_type text not null,
      category text not null,
      severity text not null,
      confidence double precision,
      title text not null,
      summary text not null,
      recommendation text,
      evidence jsonb not null,
      metadata jsonb not null,
      blocks_progress boolean not null,
      status text default 'open' not null,
      created_at timestamptz default pipeline.svc_now() not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      fingerprint text,
      occurrences integer default 1 not null,
      last_seen_at timestamptz,
      resolved_by_issue_id bigint,
      resolved_at timestamptz,
      dismissed_reason text,
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create index findings_blocking on pipeline.findings (tenant_id, issue_id) where (blocks_progress and (status in ('open', 'accepted')))`.execute(
    db,
  );
  await sql`
    create index findings_by_id on pipeline.findings (id)`.execute(db);
  await sql`
    create index findings_of_issue on pipeline.findings (tenant_id, issue_id, created_at desc, id)`.execute(db);
  await sql`
    create index findings_of_repo on pipeline.findings (tenant_id, repo_id, created_at desc, id)`.execute(db);
  await sql`
    create unique index findings_once on pipeline.findings (tenant_id, repo_id, fingerprint) where ((fingerprint is not null) and (status <> 'superseded'))`.execute(
    db,
  );
  await sql`
    create index findings_to_resolve on pipeline.findings (tenant_id, resolved_by_issue_id) where (status in ('open', 'accepted'))`.execute(
    db,
  );
  await sql`
    create table pipeline.finding_sightings (
      tenant_id bigint not null,
      issue_id bigint not null,
      finding_id uuid not null,
      run_id bigint,
      seen_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, issue_id, finding_id),
      foreign key (tenant_id, finding_id) references pipeline.findings(tenant_id, id)
    )`.execute(db);
  await sql`
    create table pipeline.intelligence_items (
      tenant_id bigint not null,
      id uuid not null,
      repo_id bigint not null,
      kind text not null,
      title text not null,
      summary text not null,
      details text,
      status text default 'candidate' not null,
      confidence double precision,
      quality_score double precision,
      source text not null,
      source_agent text,
      source_issue_id bigint,
      source_pr_id bigint,
      source_finding_id uuid,
      source_retrospective_id uuid,
      metadata jsonb not null,
      tags text[],
      fingerprint text not null,
      first_observed_at timestamptz default pipeline.svc_now() not null,
      last_observed_at timestamptz default pipeline.svc_now() not null,
      observation_count integer default 1 not null,
      last_used_at timestamptz,
      approved_at timestamptz,
      approved_by text,
      dismissed_at timestamptz,
      dismissed_reason text,
      superseded_by uuid,
      created_at timestamptz default pipeline.svc_now() not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      search tsvector generated always as (((setweight(to_tsvector('english'::regconfig, title), 'A'::"char") || setweight(coalesce(array_to_tsvector(tags), ''::tsvector), 'A'::"char")) || setweight(to_tsvector('english'::regconfig, ((summary || ' ') || "left"(coalesce(details, ''), 20000))), 'B'::"char"))) stored not null,
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create index intelligence_items_by_id on pipeline.intelligence_items (id)`.execute(db);
  await sql`
    create index intelligence_items_of_issue on pipeline.intelligence_items (tenant_id, source_issue_id) where (source_issue_id is not null)`.execute(
    db,
  );
  await sql`
    create index intelligence_items_of_repo on pipeline.intelligence_items (tenant_id, repo_id, last_observed_at desc, id)`.execute(
    db,
  );
  await sql`
    create unique index intelligence_items_once on pipeline.intelligence_items (tenant_id, repo_id, fingerprint) where ((dismissed_reason is null) or (dismissed_reason <> 'stale'))`.execute(
    db,
  );
  await sql`
    create index intelligence_items_to_expire on pipeline.intelligence_items (last_observed_at) where (status in ('candidate', 'observed'))`.execute(
    db,
  );
  await sql`
    create index intelligence_items_unusable on pipeline.intelligence_items using gin (repo_id, search) with (fastupdate=off) where (status in ('candidate', 'dismissed', 'superseded'))`.execute(
    db,
  );
  await sql`
    create index intelligence_items_usable on pipeline.intelligence_items using gin (repo_id, search) with (fastupdate=off) where (status in ('approved', 'proposed', 'observed'))`.execute(
    db,
  );
  await sql`
    create table pipeline.intelligence_scopes (
      tenant_id bigint not null,
      id uuid not null,
      item_id uuid not null,
      repo_id bigint not null,
      scope_kind text not null,
      scope_ref text not null,
      metadata jsonb,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, id),
      constraint intelligence_scopes_tenant_id_item_id_scope_kind_scope_ref_key unique (tenant_id, item_id, scope_kind, scope_ref),
      foreign key (tenant_id, item_id) references pipeline.intelligence_items(tenant_id, id)
    )`.execute(db);
  await sql`
    create index intelligence_scopes_of_ref on pipeline.intelligence_scopes (tenant_id, repo_id, scope_ref, scope_kind, item_id)`.execute(
    db,
  );
  await sql`
    create index intelligence_scopes_repo_wide on pipeline.intelligence_scopes (tenant_id, repo_id, item_id) where (scope_kind = 'repo')`.execute(
    db,
  );
  await sql`
    create table pipeline.intelligence_evidence (
      tenant_id bigint not null,
      id uuid not null,
      item_id uuid not null,
      evidence_type text not null,
      ref text,
      path text,
      url text,
      excerpt text,
      metadata jsonb,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, id),
      foreign key (tenant_id, item_id) references pipeline.intelligence_items(tenant_id, id)
    )`.execute(db);
  await sql`
    create index intelligence_evidence_of_item on pipeline.intelligence_evidence (tenant_id, item_id, id)`.execute(db);
  await sql`
    create table pipeline.intelligence_embeddings (
      tenant_id bigint not null,
      item_id uuid not null,
      repo_id bigint not null,
      model text not null,
      bits bit varying not null,
      vector real[] not null,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, item_id),
      foreign key (tenant_id, item_id) references pipeline.intelligence_items(tenant_id, id)
    )`.execute(db);
  await sql`
    create index intelligence_embeddings_of_repo on pipeline.intelligence_embeddings (tenant_id, repo_id, model) include (item_id, bits)`.execute(
    db,
  );
  await sql`
    create table pipeline.retrospectives (
      tenant_id bigint not null,
      id uuid not null,
      repo_id bigint not null,
      issue_id bigint not null,
      run_id bigint,
      status text not null,
      outcome_classification text,
      summary text not null,
      planned_files jsonb,
      actual_files jsonb,
      failures jsonb,
      lessons jsonb,
      created_at timestamptz default pipeline.svc_now() not null,
      updated_at timestamptz default pipeline.svc_now() not null,
      search tsvector generated always as (((setweight(to_tsvector('english'::regconfig, summary), 'A'::"char") || setweight(to_tsvector('english'::regconfig, "left"(coalesce((lessons)::text, ''), 20000)), 'B'::"char")) || setweight(to_tsvector('english'::regconfig, "left"(coalesce((failures)::text, ''), 20000)), 'C'::"char"))) stored not null,
      primary key (tenant_id, id),
      foreign key (tenant_id, issue_id) references pipeline.issues(tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos(tenant_id, id)
    )`.execute(db);
  await sql`
    create index retrospectives_by_time on pipeline.retrospectives (created_at)`.execute(db);
  await sql`
    create index retrospectives_of_issue on pipeline.retrospectives (tenant_id, issue_id, id)`.execute(db);
  await sql`
    create index retrospectives_search on pipeline.retrospectives using gin (repo_id, search) with (fastupdate=off)`.execute(
    db,
  );
  await sql`
    create sequence pipeline.artefact_id_seq`.execute(db);
  await sql`
    create table pipeline.artefacts (
      tenant_id bigint not null,
      id bigint default nextval('pipeline.artefact_id_seq') not null,
      run_id bigint not null,
      issue_id bigint,
      kind text not null,
      media_type text not null,
      title text not null,
      body text not null,
      created_at timestamptz default pipeline.svc_now() not null,
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`
    create index artefacts_of_issue on pipeline.artefacts (tenant_id, issue_id, id)`.execute(db);
  await sql`
    create index artefacts_of_run on pipeline.artefacts (run_id, id)`.execute(db);
  await sql`
    create table pipeline.agent_messages (
      tenant_id bigint not null,
      task_created_at timestamptz not null,
      task_id uuid not null,
      invocation_index integer not null,
      sequence integer not null,
      issue_id bigint,
      agent text not null,
      role text not null,
      subtype text not null,
      tool_name text,
      tool_input jsonb,
      tool_output jsonb,
      content text,
      truncated boolean not null,
      created_at timestamptz not null,
      primary key (tenant_id, task_created_at, task_id, invocation_index, sequence)
    ) partition by range (task_created_at)`.execute(db);
  await sql`
    create index agent_messages_of_issue on pipeline.agent_messages (tenant_id, issue_id, task_created_at)`.execute(db);
  for (const table of ['agent_messages']) await createPartitions(db, table);
}
