import { DAY_MS, type ScannedResult } from '@pipeline/domain';
import {
  type DueScan,
  dueScans,
  noteScan,
  type RunRow,
  replaceRepoFiles,
  takeDueScan,
  wantScan,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { countHandled } from '../context/handle-each.ts';
import { type EventSubject, recordPipelineEvent } from '../records/records.ts';
import { enqueueSide } from '../tasks/side-tasks.ts';

const SCAN_EVERY_MS = 7 * DAY_MS;
const BATCH = 500;

/** Records a merged pull request: the event, and that the code map is outdated. */
export async function recordMerge(
  unit: TransactionContext,
  about: EventSubject,
  { agent, prNumber }: { agent: string; prNumber: number },
): Promise<void> {
  recordPipelineEvent(unit, about, { eventType: 'pr_merged', agent, payload: { prNumber } });
  await wantScan(unit.tx, unit.tenantId, about.issue.repo_id);
}

/**
 * Enqueues due scans: of repos that were never scanned, weekly, and after merges. A repo has one live scan at most;
 * merges during a scan are covered by the next one. Each in its own transaction, by compare-and-set.
 * @returns how many were enqueued.
 */
export async function enqueueDueScans(engine: Engine): Promise<number> {
  const scans = await dueScans(engine.store.db, BATCH);
  return countHandled('due scans', scans, (due) => inTenant(engine, due.tenant_id, (unit) => enqueueScan(unit, due)));
}

async function enqueueScan(unit: TransactionContext, due: DueScan): Promise<boolean> {
  if (!(await takeDueScan(unit.tx, due, SCAN_EVERY_MS))) return false;
  await enqueueSide(unit, { taskType: 'code-map-scan', repoId: due.repo_id, issue: null });
  return true;
}

/** Replaces the files of a repo by the result of a scan. */
export async function saveCodeMap(unit: TransactionContext, run: RunRow, result: ScannedResult): Promise<void> {
  const { tx, tenantId } = unit;
  const repo = { tenantId, repoId: run.repo_id };
  const { headSha, truncated, files, symbols } = result;
  const { written, removed } = await replaceRepoFiles(tx, repo, files, symbols);
  await noteScan(tx, repo, { headSha, truncated, files: files.length, symbols: symbols.length });
  recordPipelineEvent(
    unit,
    { issue: { id: null, repo_id: run.repo_id, issue_number: null } },
    {
      eventType: 'repo_scanned',
      agent: run.agent,
      payload: { headSha, truncated, files: files.length, symbols: symbols.length, written, removed },
    },
  );
}
