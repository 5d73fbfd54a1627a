import { cappedText, type Invocation, isSideTask } from '@pipeline/domain';
import { insertMessages, type MessageInput, repoById, updateTask } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { bookInvocations } from '../costs/book-invocations.ts';
import { publishIssueStatus, recordIssueEvent } from '../records/records.ts';
import type { ClaimToken } from './claim-types.ts';
import { withClaim } from './with-claim.ts';

export interface Progress {
  status: string;
  details: Record<string, unknown> | null;
  invocations: Invocation[];
}

/**
 * Maximum characters of a text of an agent, or of a value in JSON: the wire bounds the whole request, this bounds what a
 * reader of many of them gets.
 */
const MAX_CONTENT = 65_536;

/** Records the progress of a task: the issue's current status, a timeline entry, and its cost so far. */
export function progress(engine: Engine, token: ClaimToken, said: Progress): Promise<void> {
  return withClaim(engine, token, async (unit, { run, issue }) => {
    await updateTask(unit.tx, unit.tenantId, run.task_id, 'progress');
    await bookInvocations(unit, { run, issue }, said.invocations);
    if (!issue) return;
    const actor = { type: 'agent' as const, id: run.worker_id, agent: run.agent };
    const details = JSON.stringify(said.details).length > MAX_CONTENT ? null : said.details;
    recordIssueEvent(unit, { issue }, { status: said.status, details, actor });
    // Only tasks that move the issue set its status.
    if (isSideTask(run.task_type)) return;
    unit.rows.setIssue(issue.id, { current_status: said.status });
    unit.dirtyIssues.minor.add(issue.id);
    const repo = await repoById(unit.tx, unit.tenantId, issue.repo_id);
    publishIssueStatus(unit, { issue, repo }, { status: said.status, actor });
  });
}

/** Stores messages of an agent. A message sent twice is stored once. @returns how many were stored. */
export function recordMessages(
  engine: Engine,
  token: ClaimToken,
  items: readonly Omit<MessageInput, 'truncated'>[],
): Promise<number> {
  return withClaim(engine, token, async (unit, { run }) => {
    await updateTask(unit.tx, unit.tenantId, run.task_id, 'progress');
    return insertMessages(unit.tx, unit.tenantId, run, items.map(cut));
  });
}

/** Cuts the content of a message; of a longer value of a tool the text of its JSON is stored, cut too. */
function cut(item: Omit<MessageInput, 'truncated'>): MessageInput {
  const { toolInput, toolOutput } = item;
  const isLong = (value: unknown) => (JSON.stringify(value) ?? '').length > MAX_CONTENT;
  const cutValue = (value: unknown) => (isLong(value) ? cappedText(JSON.stringify(value), MAX_CONTENT) : value);
  return {
    ...item,
    ...(toolInput !== undefined && { toolInput: cutValue(toolInput) }),
    ...(toolOutput !== undefined && { toolOutput: cutValue(toolOutput) }),
    content: item.content === null ? null : cappedText(item.content, MAX_CONTENT),
    truncated: (item.content?.length ?? 0) > MAX_CONTENT || isLong(toolInput) || isLong(toolOutput),
  };
}
