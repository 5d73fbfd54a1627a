import { type Kysely, sql } from 'kysely';

/** Findings and their decisions, knowledge about repos, and the search for both. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await extensions(db);
  await findings(db);
  await items(db);
  await embeddings(db);
  await searchable(db);
}

/** Both come with Postgres and are trusted: the CREATE privilege on the database is sufficient. */
const EXTENSIONS = ['pg_trgm', 'btree_gin'] as const;

async function extensions(db: Kysely<unknown>): Promise<void> {
  for (const name of EXTENSIONS) {
    await sql`create extension if not exists ${sql.ref(name)} with schema public`.execute(db);
    const { rows } = await sql<{ schema: string }>`
      select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
      where e.extname = ${name} and n.nspname not in ('public', 'pipeline', 'pg_catalog')`.execute(db);
    const [elsewhere] = rows;
    if (!elsewhere) continue;
    const mend = `alter extension ${name} set schema public`;
    throw new Error(`the extension ${name} is in the schema "${elsewhere.schema}", where it is not found: ${mend}`);
  }
}

async function findings(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table pipeline.findings
      add column fingerprint text,
      add column occurrences integer not null default 1,
      add column last_seen_at timestamptz,
      add column resolved_by_issue_id bigint,
      add column resolved_at timestamptz,
      add column dismissed_reason text`.execute(db);
  // A repeated report is the same row. A superseded finding is history, represented by its successor.
  await sql`
    create unique index findings_once on pipeline.findings (tenant_id, repo_id, fingerprint)
    where fingerprint is not null and status <> 'superseded'`.execute(db);
  await sql`create index findings_by_id on pipeline.findings (id)`.execute(db);
  await sql`
    create index findings_to_resolve on pipeline.findings (tenant_id, resolved_by_issue_id)
    where status in ('open', 'accepted')`.execute(db);
  // A finding of the repo may be reported for several issues; each lists it.
  await sql`
    create table pipeline.finding_sightings (
      tenant_id bigint not null,
      issue_id bigint not null,
      finding_id uuid not null,
      run_id bigint,
      seen_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, issue_id, finding_id),
      foreign key (tenant_id, finding_id) references pipeline.findings
    )`.execute(db);
  await sql`
    insert into pipeline.finding_sightings (tenant_id, issue_id, finding_id, run_id, seen_at)
    select tenant_id, issue_id, id, run_id, created_at from pipeline.findings where issue_id is not null`.execute(db);
}

async function items(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pipeline.intelligence_items (
      tenant_id bigint not null,
      id uuid not null,
      repo_id bigint not null,
      kind text not null,
      title text not null,
      summary text not null,
      details text,
      status text not null default 'candidate',
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
      first_observed_at timestamptz not null default pipeline.svc_now(),
      last_observed_at timestamptz not null default pipeline.svc_now(),
      observation_count integer not null default 1,
      last_used_at timestamptz,
      approved_at timestamptz,
      approved_by text,
      dismissed_at timestamptz,
      dismissed_reason text,
      superseded_by uuid,
      created_at timestamptz not null default pipeline.svc_now(),
      updated_at timestamptz not null default pipeline.svc_now(),
      search tsvector not null generated always as (
        setweight(to_tsvector('english'::regconfig, title), 'A')
          || setweight(coalesce(array_to_tsvector(tags), ''::tsvector), 'A')
          || setweight(to_tsvector('english'::regconfig, summary || ' ' || left(coalesce(details, ''), 20000)), 'B')
      ) stored,
      primary key (tenant_id, id),
      foreign key (tenant_id, repo_id) references pipeline.repos
    )`.execute(db);
  // A stale item is recorded again as a new one; one that a person dismissed is not.
  await sql`
    create unique index intelligence_items_once on pipeline.intelligence_items (tenant_id, repo_id, fingerprint)
    where dismissed_reason is null or dismissed_reason <> 'stale'`.execute(db);
  await sql`create index intelligence_items_by_id on pipeline.intelligence_items (id)`.execute(db);
  await sql`
    create index intelligence_items_of_repo on pipeline.intelligence_items (tenant_id, repo_id, last_observed_at desc, id)`.execute(
    db,
  );
  await sql`
    create index intelligence_items_to_expire on pipeline.intelligence_items (last_observed_at)
    where status in ('candidate', 'observed')`.execute(db);
  await sql`
    create index intelligence_items_of_issue on pipeline.intelligence_items (tenant_id, source_issue_id)
    where source_issue_id is not null`.execute(db);
  // Items for agents, and omitted ones, each by its own index: many of the second kind do not slow the search for the
  // first one.
  await sql`
    create index intelligence_items_usable on pipeline.intelligence_items using gin (repo_id, search) with (fastupdate = off)
    where status in ('approved', 'proposed', 'observed')`.execute(db);
  await sql`
    create index intelligence_items_unusable on pipeline.intelligence_items using gin (repo_id, search) with (fastupdate = off)
    where status in ('candidate', 'dismissed', 'superseded')`.execute(db);
  await sql`
    create table pipeline.intelligence_scopes (
      tenant_id bigint not null,
      id uuid not null,
      item_id uuid not null,
      repo_id bigint not null,
      scope_kind text not null,
      scope_ref text not null,
      metadata jsonb,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      unique (tenant_id, item_id, scope_kind, scope_ref),
      foreign key (tenant_id, item_id) references pipeline.intelligence_items
    )`.execute(db);
  await sql`
    create index intelligence_scopes_of_ref on pipeline.intelligence_scopes
      (tenant_id, repo_id, scope_ref, scope_kind, item_id)`.execute(db);
  await sql`
    create index intelligence_scopes_repo_wide on pipeline.intelligence_scopes (tenant_id, repo_id, item_id)
    where scope_kind = 'repo'`.execute(db);
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
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, id),
      foreign key (tenant_id, item_id) references pipeline.intelligence_items
    )`.execute(db);
  await sql`
    create index intelligence_evidence_of_item on pipeline.intelligence_evidence (tenant_id, item_id, id)`.execute(db);
}

async function embeddings(db: Kysely<unknown>): Promise<void> {
  // Separate from the items, so that these stay short. `bits` are the signs of the vector's elements: near vectors
  // share most of them, and comparing them costs a hundredth of the cosine.
  await sql`
    create table pipeline.intelligence_embeddings (
      tenant_id bigint not null,
      item_id uuid not null,
      repo_id bigint not null,
      model text not null,
      bits bit varying not null,
      vector real[] not null,
      created_at timestamptz not null default pipeline.svc_now(),
      primary key (tenant_id, item_id),
      foreign key (tenant_id, item_id) references pipeline.intelligence_items
    )`.execute(db);
  await sql`
    create index intelligence_embeddings_of_repo on pipeline.intelligence_embeddings (tenant_id, repo_id, model)
    include (item_id, bits)`.execute(db);
}

/** `retryDeadLetter` and `dead-letters.ts` are found by their words as well as whole. */
const words = (expression: string) =>
  `regexp_replace(regexp_replace(${expression}, '([a-z0-9])([A-Z])', '\\1 \\2', 'g'), '[^[:alnum:]]+', ' ', 'g')`;

async function searchable(db: Kysely<unknown>): Promise<void> {
  const names = `left(jsonb_path_query_array(symbols, '$[*].name')::text, 50000)`;
  await sql`
    alter table pipeline.repo_files add column search tsvector not null generated always as (
      setweight(to_tsvector('english'::regconfig, ${sql.raw(words('path'))}), 'A')
        || setweight(to_tsvector('english'::regconfig,
             ${sql.raw(words(names))} || ' ' || translate(${sql.raw(names)}, '[]",', '    ') || coalesce(summary, '')), 'B')
    ) stored`.execute(db);
  // A scan writes thousands of rows at once, so their words are collected before they are sorted in; each search reads
  // the pending list, so it is kept small (kB).
  await sql`
    create index repo_files_search on pipeline.repo_files using gin (repo_id, search)
    with (gin_pending_list_limit = 512)`.execute(db);
  await sql`
    alter table pipeline.retrospectives add column search tsvector not null generated always as (
      setweight(to_tsvector('english'::regconfig, summary), 'A')
        || setweight(to_tsvector('english'::regconfig, left(coalesce(lessons::text, ''), 20000)), 'B')
        || setweight(to_tsvector('english'::regconfig, left(coalesce(failures::text, ''), 20000)), 'C')
    ) stored`.execute(db);
  await sql`create index retrospectives_search on pipeline.retrospectives using gin (repo_id, search) with (fastupdate = off)`.execute(
    db,
  );
}
