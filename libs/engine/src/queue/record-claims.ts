import {
  branchOf,
  formatSlug,
  type State,
  spanIdOfRun,
  type TaskPayload,
  traceIdOfIssue,
  traceIdOfTask,
  traceparentOf,
} from '@pipeline/domain';
import {
  type Claimed,
  factsOfTask,
  type HeldTask,
  historyOf,
  type IssueRow,
  lockClaims,
  type RunRow,
  type WorkerRow,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { updatePresence, updateWorkerStatus, type WorkerAtWork } from '../presence/worker-status.ts';

export interface RecordedClaim extends PayloadFacts {
  /** Locked; undefined for one that is gone. */
  worker: WorkerRow | undefined;
}

/**
 * Records new claims in the lists and the workers' status, and reads the task payloads. Runs after the claim to keep
 * that short: an issue may have moved on since, and then the report is refused, because the move withdraws the claim.
 * @returns the payload of each claim, in order.
 */
export async function recordClaims(
  unit: TransactionContext,
  claims: readonly { row: Claimed; workerId: string }[],
): Promise<RecordedClaim[]> {
  const { tx, tenantId } = unit;
  const issueIds = [...new Set(claims.flatMap(({ row }) => row.issue_id ?? []))];
  for (const id of issueIds) unit.dirtyIssues.changed.add(id);
  // Locked, because its list row could otherwise be written from data that a concurrent change is about to replace.
  const locking = lockClaims(
    tx,
    tenantId,
    claims.map(({ row }) => row.claim_token_hash),
  );
  const byRun = locking.then((locked) => new Map(locked.map((claim) => [claim.run.id, claim])));
  const [locked, ...payloads] = await Promise.all([
    byRun,
    ...claims.map(({ row }) =>
      payloadOf(
        unit,
        row,
        byRun.then((found) => found.get(row.run_id)?.issue),
      ),
    ),
  ]);
  // After all reads, so that these statements and the records share one round trip.
  for (const [at, { row }] of claims.entries()) {
    const headSha = payloads[at]?.payload.pr?.headSha;
    // The worker's report on the pull request applies to this commit, whatever is pushed meanwhile.
    if (headSha) unit.rows.setRun(row.run_id, { head_sha: headSha });
  }
  // Statements that follow others must not be sent beside some that may fail.
  for (const { payload, issue, shown } of payloads)
    if (issue && shown.task_type === 'retrospect') payload.history = await historyOf(tx, tenantId, issue);
  const recorded = payloads.map((each, at) => ({ ...each, worker: locked.get(claims[at]?.row.run_id ?? 0)?.worker }));
  await presentClaimers(unit, [...locked.values()], recorded);
  return recorded;
}

/**
 * The workers hold their new tasks: what else they hold does not change their status. Of a claim that was withdrawn
 * meanwhile the worker may hold nothing, so its tasks are read.
 */
async function presentClaimers(
  unit: TransactionContext,
  locked: readonly { run: RunRow; worker: WorkerRow | undefined }[],
  recorded: readonly PayloadFacts[],
): Promise<void> {
  const shown = new Map(recorded.map((claim) => [claim.shown.id, claim.shown]));
  const workers = new Map<string, WorkerAtWork>();
  for (const { run, worker } of locked) {
    const task = shown.get(run.task_id);
    // Runs come in the order of their ids: the first one of a worker is its oldest.
    if (worker && run.alive && task && !workers.has(worker.id)) workers.set(worker.id, { worker, held: task });
  }
  await updatePresence(unit, [...workers.values()], { alive: true });
  const others = new Set(locked.map(({ run }) => run.worker_id)).difference(workers);
  for (const workerId of [...others].sort()) await updateWorkerStatus(unit, workerId, { alive: true });
}

interface PayloadFacts {
  payload: TaskPayload;
  traceparent: string;
  promptVersion: number | null;
  costUsd: number;
  mayHaveSnippets: boolean;
  /** The task as its worker's status shows it. */
  shown: HeldTask;
  issue: IssueRow | undefined;
}

/**
 * The payload of a task without snippets: one statement, pipelined with the read of its issue.
 * @returns it, the version of its instructions, if its track has any, the issue's cost in USD, and whether there may be
 * snippets.
 */
async function payloadOf(
  unit: TransactionContext,
  task: Claimed,
  reading: Promise<IssueRow | undefined>,
): Promise<PayloadFacts> {
  const { tx, tenantId } = unit;
  const { issue_id: issueId, issue_number: number, repo_id: repoId, task_type: taskType } = task;
  const asked = factsOfTask(tx, { tenantId, repoId, issueId, number, taskType });
  const [issue, facts] = await Promise.all([reading, asked]);
  const { pr, prompt, posts } = facts;
  const ofKind = (kind: string) => posts.filter((post) => post.kind === kind);
  const payload: TaskPayload = {
    issue: issue
      ? {
          number: issue.issue_number,
          title: issue.title,
          body: issue.body,
          url: issue.url,
          labels: issue.labels,
          author: issue.author,
        }
      : null,
    repo: {
      slug: formatSlug(facts),
      cloneUrl: facts.clone_url,
      defaultBranch: facts.default_branch,
      setupCommand: facts.setup_command,
    },
    branch: issue ? branchOf(issue.issue_number) : null,
    pr: pr
      ? { number: pr.number, url: pr.url, headSha: pr.head_sha, headRef: pr.head_ref, title: pr.title, body: pr.body }
      : null,
    plan: issue?.plan ? { text: issue.plan, plannedFiles: issue.planned_files } : null,
    checks: facts.checks,
    reviewComments: ofKind('review').map(({ author, body, path, line }) => ({ author, body, path, line })),
    planRejections: ofKind('plan-rejection').map(({ author, body }) => ({ author, body })),
    answers: ofKind('answer').map(({ author, body }) => ({ author, body })),
    snippets: [],
    instructions: prompt?.instructions ?? null,
    previousAttempts: facts.attempts.toReversed().map(({ attempt, error_message, outcome }) => ({
      attempt,
      errorMessage: error_message,
      outcome,
    })),
    state: issue ? (issue.state as State) : null,
    history: null,
  };
  const traceId = issue
    ? traceIdOfIssue({ tenantId, issueId: issue.id, createdAt: issue.created_at })
    : traceIdOfTask(task.id);
  const traceparent = traceparentOf(traceId, spanIdOfRun(task.id, task.run_id));
  return {
    payload,
    traceparent,
    promptVersion: prompt?.version ?? null,
    costUsd: issue?.cost_usd ?? 0,
    mayHaveSnippets: facts.has_intelligence,
    shown: { id: task.id, task_type: taskType, issue_number: number, owner: facts.owner, name: facts.name },
    issue,
  };
}
