import {
  type IntelligenceEvidenceInput,
  type IntelligenceInput,
  intelligenceFingerprint,
  promoted,
} from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { svcNow } from '../driver/clock.ts';
import type { Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';

/** The source of observations. */
interface ObservationSource {
  repoId: number;
  /** `report`, `retrospective`, `finding`. */
  source: string;
  agent: string | null;
  issueId: number | null;
  prId: number | null;
  retrospectiveId: string | null;
}

export interface Observation extends IntelligenceInput {
  /** Initial count of a new item. */
  seen: number;
  findingId: string | null;
}

interface Known {
  id: string;
  fingerprint: string;
  status: Parameters<typeof promoted>[0];
  confidence: number | null;
  observation_count: number;
}

/**
 * Records observations. A known item is counted and may be promoted by it; scopes and evidence are added. Locks the
 * items that it counts, in id order.
 * @returns ids of the items, unordered.
 */
export async function observeItems(
  tx: Tx,
  tenantId: number,
  of: ObservationSource,
  items: readonly Observation[],
): Promise<string[]> {
  if (items.length === 0) return [];
  const byName = new Map(items.map((item) => [intelligenceFingerprint(item), item]));
  const fresh = await insertNew(tx, tenantId, of, byName);
  const names = [...byName.keys()].filter((name) => !fresh.some(({ fingerprint }) => fingerprint === name));
  const known = names.length === 0 ? [] : await lockKnown(tx, tenantId, of.repoId, names);
  for (const row of known) await count(tx, tenantId, row, byName.get(row.fingerprint) as Observation);
  const all = [...fresh, ...known].map(({ id, fingerprint }) => ({ id, item: byName.get(fingerprint) as Observation }));
  await addScopes(tx, tenantId, of.repoId, all);
  await addEvidence(tx, tenantId, all);
  return all.map(({ id }) => id);
}

function insertNew(tx: Tx, tenantId: number, of: ObservationSource, byName: Map<string, Observation>) {
  const rows = [...byName].map(([fingerprint, item]) => ({
    tenant_id: tenantId,
    id: timeOrderedId(),
    repo_id: of.repoId,
    kind: item.kind,
    title: item.title,
    summary: item.summary,
    details: item.details,
    status: promoted('candidate', { observations: item.seen, confidence: item.confidence }),
    confidence: item.confidence,
    source: of.source,
    source_agent: of.agent,
    source_issue_id: of.issueId,
    source_pr_id: of.prId,
    source_finding_id: item.findingId,
    source_retrospective_id: of.retrospectiveId,
    metadata: jsonb({}),
    tags: item.tags.length === 0 ? null : item.tags.map((tag) => tag.toLowerCase()),
    fingerprint,
    observation_count: item.seen,
  }));
  return tx
    .insertInto('intelligence_items')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'fingerprint'])
    .execute();
}

const lockKnown = (tx: Tx, tenantId: number, repoId: number, names: string[]): Promise<Known[]> =>
  tx
    .selectFrom('intelligence_items')
    .select(['id', 'fingerprint', 'status', 'confidence', 'observation_count'])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('fingerprint', 'in', names)
    .where((where) => where.or([where('dismissed_reason', 'is', null), where('dismissed_reason', '<>', 'stale')]))
    .orderBy('id')
    .forUpdate()
    .execute();

async function count(tx: Tx, tenantId: number, known: Known, item: Observation): Promise<void> {
  const observations = known.observation_count + 1;
  const confidence = Math.max(known.confidence ?? 0, item.confidence ?? 0) || null;
  await tx
    .updateTable('intelligence_items')
    .set({
      observation_count: observations,
      confidence,
      status: promoted(known.status, { observations, confidence }),
      last_observed_at: svcNow,
      updated_at: svcNow,
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', known.id)
    .execute();
}

type Written = readonly { id: string; item: Observation }[];

async function addScopes(tx: Tx, tenantId: number, repoId: number, written: Written): Promise<void> {
  const rows = written.flatMap(({ id, item }) =>
    item.scopes.map(({ kind, ref }) => ({
      tenant_id: tenantId,
      id: timeOrderedId(),
      item_id: id,
      repo_id: repoId,
      scope_kind: kind,
      scope_ref: ref,
    })),
  );
  if (rows.length === 0) return;
  await tx
    .insertInto('intelligence_scopes')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function addEvidence(tx: Tx, tenantId: number, written: Written): Promise<void> {
  const row = (itemId: string, { type, ref, path, url, excerpt }: IntelligenceEvidenceInput) => ({
    tenant_id: tenantId,
    id: timeOrderedId(),
    item_id: itemId,
    evidence_type: type,
    ref,
    path,
    url,
    excerpt,
  });
  const rows = written.flatMap(({ id, item }) => item.evidence.map((evidence) => row(id, evidence)));
  if (rows.length > 0) await tx.insertInto('intelligence_evidence').values(rows).execute();
}
