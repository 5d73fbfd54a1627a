import { type FindingInput, findingFingerprint } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { svcNow } from '../driver/clock.ts';
import type { Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import type { RecordOwner } from './run-records.ts';

/** The effect of a reported finding. */
export interface RecordedFinding {
  id: string;
  input: FindingInput;
  /** `repeated` = it existed, settled or not, and was counted. */
  what: 'opened' | 'reopened' | 'repeated';
  /** Number of reports, this one included. */
  occurrences: number;
}

/**
 * Records the findings of a run. A known finding keeps its row: it is counted, updated with its newest evidence, and
 * reopened if it was resolved; one that an operator dismissed stays dismissed. Locks the rows that it counts, in id
 * order.
 */
export async function recordFindings(
  tx: Tx,
  tenantId: number,
  owner: RecordOwner,
  items: readonly FindingInput[],
): Promise<RecordedFinding[]> {
  if (items.length === 0) return [];
  const byName = new Map(items.map((item) => [findingFingerprint(item, owner.issueId), item]));
  const opened = await insertNew(tx, tenantId, owner, byName);
  const known = [...byName.keys()].filter((name) => !opened.some(({ fingerprint }) => fingerprint === name));
  const repeated = await countKnown(tx, tenantId, owner, { byName, known });
  const recorded = [...opened.map(({ fingerprint: _, ...one }) => one), ...repeated];
  if (owner.issueId !== null) await see(tx, tenantId, { ...owner, issueId: owner.issueId }, recorded);
  return recorded;
}

const newestOf = (owner: RecordOwner, item: FindingInput) => ({
  run_id: owner.runId,
  agent_name: owner.agent,
  severity: item.severity,
  confidence: item.confidence,
  title: item.title,
  summary: item.summary,
  recommendation: item.recommendation,
  evidence: jsonb(item.evidence),
  metadata: jsonb(item.metadata),
});

async function insertNew(tx: Tx, tenantId: number, owner: RecordOwner, byName: Map<string, FindingInput>) {
  const rows = [...byName].map(([fingerprint, item]) => ({
    ...newestOf(owner, item),
    tenant_id: tenantId,
    id: timeOrderedId(),
    repo_id: owner.repoId,
    issue_id: owner.issueId,
    pr_number: owner.prNumber,
    finding_type: item.findingType,
    category: item.category,
    blocks_progress: item.blocksProgress,
    fingerprint,
  }));
  const inserted = await tx
    .insertInto('findings')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'fingerprint'])
    .execute();
  return inserted.map(({ id, fingerprint }) => {
    const input = byName.get(fingerprint ?? '') as FindingInput;
    return { id, input, fingerprint, what: 'opened' as const, occurrences: 1 };
  });
}

async function countKnown(
  tx: Tx,
  tenantId: number,
  owner: RecordOwner,
  { byName, known }: { byName: Map<string, FindingInput>; known: string[] },
): Promise<RecordedFinding[]> {
  if (known.length === 0) return [];
  const rows = await tx
    .selectFrom('findings')
    .select(['id', 'fingerprint', 'status', 'occurrences'])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', owner.repoId)
    .where('fingerprint', 'in', known)
    .where('status', '<>', 'superseded')
    .orderBy('id')
    .forUpdate()
    .execute();
  const recorded: RecordedFinding[] = [];
  for (const { id, fingerprint, status, occurrences } of rows) {
    const input = byName.get(fingerprint ?? '') as FindingInput;
    const isBack = status === 'resolved';
    await tx
      .updateTable('findings')
      .set({
        ...newestOf(owner, input),
        occurrences: occurrences + 1,
        last_seen_at: svcNow,
        updated_at: svcNow,
        // A reopened finding belongs to the issue that reported it again.
        ...(isBack && {
          status: 'open',
          issue_id: owner.issueId,
          pr_number: owner.prNumber,
          resolved_at: null,
          resolved_by_issue_id: null,
        }),
      })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', id)
      .execute();
    recorded.push({ id, input, what: isBack ? 'reopened' : 'repeated', occurrences: occurrences + 1 });
  }
  return recorded;
}

const see = (
  tx: Tx,
  tenantId: number,
  { issueId, runId }: RecordOwner & { issueId: number },
  recorded: readonly RecordedFinding[],
) =>
  tx
    .insertInto('finding_sightings')
    .values(recorded.map(({ id }) => ({ tenant_id: tenantId, issue_id: issueId, finding_id: id, run_id: runId })))
    .onConflict((conflict) => conflict.columns(['tenant_id', 'issue_id', 'finding_id']).doNothing())
    .execute();
