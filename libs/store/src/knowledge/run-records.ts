import type { ArtefactInput } from '@pipeline/domain';
import { svcNow } from '../driver/clock.ts';
import type { Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import type { RunRow } from '../queue/runs.ts';

export interface RecordOwner {
  runId: number;
  repoId: number;
  issueId: number | null;
  prId: number | null;
  prNumber: number | null;
  agent: string;
}

export async function insertArtefacts(
  tx: Tx,
  tenantId: number,
  owner: RecordOwner,
  items: readonly ArtefactInput[],
): Promise<void> {
  if (items.length === 0) return;
  await tx
    .insertInto('artefacts')
    .values(
      items.map((item) => ({
        tenant_id: tenantId,
        run_id: owner.runId,
        issue_id: owner.issueId,
        kind: item.kind,
        media_type: item.mediaType,
        title: item.title,
        body: item.body,
      })),
    )
    .execute();
}

export interface MessageInput {
  invocationIndex: number;
  sequence: number;
  role: string;
  subtype: string;
  toolName: string | null;
  toolInput?: unknown;
  toolOutput?: unknown;
  content: string | null;
  truncated: boolean;
  createdAt?: string | undefined;
}

/**
 * A task whose lease expired keeps its id, and its next run starts to count again: the stored sequence continues after those
 * of the attempts before, so that no message is lost as one of theirs.
 */
const SEQUENCES_PER_ATTEMPT = 1_000_000;

/** A sequence that is already that of this attempt stays: workers may count so themselves. */
function storedSequence(sequence: number, attempt: number): number {
  const first = attempt * SEQUENCES_PER_ATTEMPT;
  return sequence < first ? first + sequence : sequence;
}

/**
 * Stores messages of an agent. The key contains the task's creation time, so a batch that is sent again changes
 * nothing. @returns how many were new.
 */
export async function insertMessages(
  tx: Tx,
  tenantId: number,
  run: RunRow,
  items: readonly MessageInput[],
): Promise<number> {
  if (items.length === 0) return 0;
  const { created_at } = await tx
    .selectFrom('tasks')
    .select('created_at')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', run.task_id)
    .executeTakeFirstOrThrow();
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('agent_messages')
    .values(
      items.map((item) => ({
        tenant_id: tenantId,
        task_created_at: created_at,
        task_id: run.task_id,
        issue_id: run.issue_id,
        agent: run.agent,
        invocation_index: item.invocationIndex,
        sequence: storedSequence(item.sequence, run.attempt),
        role: item.role,
        subtype: item.subtype,
        tool_name: item.toolName,
        tool_input: item.toolInput === undefined ? null : jsonb(item.toolInput),
        tool_output: item.toolOutput === undefined ? null : jsonb(item.toolOutput),
        content: item.content,
        truncated: item.truncated,
        created_at: item.createdAt ?? svcNow,
      })),
    )
    .onConflict((c) =>
      c.columns(['tenant_id', 'task_created_at', 'task_id', 'invocation_index', 'sequence']).doNothing(),
    )
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows ?? 0);
}
