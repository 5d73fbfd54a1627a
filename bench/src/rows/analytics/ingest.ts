import { insertRecords, inTransaction, noRecords, type Records } from '@pipeline/store';
import { sql } from 'kysely';
import type { Sample } from '../../measure/sample.ts';
import { type OurStore, openOurStore } from '../../ours/store.ts';
import type { Bench, Case } from '../../runner/model.ts';

const BATCH = 1_000;

/**
 * Moves written in batches of a thousand over 200 repos, by the store's own statement. The anchor is the same insert
 * alone.
 */
export async function ingestCase(bench: Bench): Promise<Case> {
  const ours = await openOurStore(bench, 'bench_ingest');
  const batches = bench.quick ? 20 : 100;
  const issueIds = await issuesOf(ours);
  return {
    title: `insert of moves, batches of ${BATCH}`,
    unit: 'moves/s',
    ours: { name: 'insert of records', sample: () => asRecords(ours, batches, issueIds) },
    anchors: [
      { contender: { name: 'plain insert', sample: () => plain(ours, batches, issueIds) }, bound: { atLeast: 0.95 } },
    ],
  };
}

async function issuesOf({ admin, tenantId, repoIds }: OurStore): Promise<number[]> {
  const { rows } = await admin.query<{ id: number }>(
    `insert into issues (tenant_id, repo_id, issue_number, title, body, url, state, host_created_at, host_updated_at)
     select $1, repo_id, 1, '', '', '', 'new', now(), now() from unnest($2::bigint[]) repo_id returning id::int`,
    [tenantId, repoIds],
  );
  return rows.map(({ id }) => id);
}

const movesOf = ({ repoIds }: OurStore, issueIds: readonly number[]): Records['transitions'] =>
  Array.from({ length: BATCH }, (_, n) => ({
    repoId: repoIds[n % repoIds.length] ?? 0,
    issueId: issueIds[n % issueIds.length] ?? 0,
    from: 'new',
    to: 'analyzing',
    trigger: 'admitted',
    forced: false,
    agent: null,
    actorType: 'workflow-engine',
    actorId: null,
    reason: null,
    durationMs: n,
    lateUs: 0,
    enteredPipelineAt: new Date().toISOString(),
    isFirst: true,
  }));

async function asRecords(ours: OurStore, batches: number, issueIds: readonly number[]): Promise<Sample> {
  const began = performance.now();
  for (let batch = 0; batch < batches; batch += 1) {
    const records = { ...noRecords(), transitions: movesOf(ours, issueIds) };
    await inTransaction(ours.store.db, (tx) => insertRecords(tx, ours.tenantId, records));
  }
  return { value: (batches * BATCH * 1_000) / (performance.now() - began), cpu: null };
}

async function plain(ours: OurStore, batches: number, issueIds: readonly number[]): Promise<Sample> {
  const began = performance.now();
  for (let batch = 0; batch < batches; batch += 1) {
    const moves = JSON.stringify(movesOf(ours, issueIds));
    await inTransaction(ours.store.db, (tx) =>
      sql`
        insert into transitions (tenant_id, repo_id, issue_id, from_state, to_state, trigger, forced, agent, actor_type,
          actor_id, reason, duration_in_from_ms, admitted_at, is_first)
        select ${ours.tenantId}, t."repoId", t."issueId", t."from", t."to", t."trigger", t.forced, t.agent, t."actorType",
          t."actorId", t.reason, t."durationMs", t."enteredPipelineAt", t."isFirst"
        from jsonb_to_recordset(${moves}::jsonb) as t ("repoId" bigint, "issueId" bigint, "from" text, "to" text,
          "trigger" text, forced boolean, agent text, "actorType" text, "actorId" text, reason text, "durationMs" bigint,
          "enteredPipelineAt" timestamptz, "isFirst" boolean)`.execute(tx),
    );
  }
  return { value: (batches * BATCH * 1_000) / (performance.now() - began), cpu: null };
}
