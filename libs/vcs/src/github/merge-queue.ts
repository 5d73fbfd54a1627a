import type { ExecuteResult, ProjectionAction, ReportedCheck } from '@pipeline/domain';
import { readChecks, readLogTail } from './checks.ts';
import { done, repeated, type Target } from './target.ts';

type Merge = Extract<ProjectionAction, { type: 'mergePR' }>;

/** The last entry of the log of a pull request about its commits and the queue, and its place in the queue. */
const QUEUE_STATE = `query ($id: ID!) {
  node(id: $id) { ... on PullRequest {
    state headRefOid mergeCommit { oid } mergeQueueEntry { state position }
    timelineItems(last: 1, itemTypes: [
      PULL_REQUEST_COMMIT HEAD_REF_FORCE_PUSHED_EVENT ADDED_TO_MERGE_QUEUE_EVENT REMOVED_FROM_MERGE_QUEUE_EVENT
    ]) { nodes { __typename ... on RemovedFromMergeQueueEvent { reason beforeCommit { oid } } } }
  } }
}`;

const ENQUEUE = `mutation ($id: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head }) { mergeQueueEntry { state } }
}`;

interface QueueState {
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  headRefOid: string;
  mergeCommit?: { oid: string } | null;
  mergeQueueEntry: { state: string; position: number } | null;
  timelineItems: { nodes: { __typename: string; reason?: string | null; beforeCommit?: { oid: string } | null }[] };
}

/**
 * Merges by the merge queue of the branch: puts the pull request into it, and later reads what became of it. The queue
 * compares the head in the same step. A pull request that the queue has taken out is not put in again.
 */
export async function mergeByQueue(target: Target, action: Merge): Promise<ExecuteResult> {
  const { client, at, context } = target;
  const { prNumber, expectedHeadSha: head } = action;
  const { data: pull } = await client.rest.pulls.get({ ...at, pull_number: prNumber });
  const request = { ...at.request, retries: 0 };
  const { node } = await client.graphql<{ node: QueueState }>(QUEUE_STATE, { id: pull.node_id, request });
  if (node.state === 'MERGED') return merged(context.mayHaveHappened, prNumber, node.mergeCommit?.oid);
  if (node.headRefOid !== head) return refuse('not-ready', 'the head of the pull request has moved', node.headRefOid);
  if (node.mergeQueueEntry) return queued(node.mergeQueueEntry);
  const [last] = node.timelineItems.nodes;
  if (last?.__typename === 'RemovedFromMergeQueueEvent' && context.mayHaveHappened) return removed(target, last);
  await client.graphql(ENQUEUE, { id: pull.node_id, head, request });
  return queued(null);
}

function merged(isRepeated: boolean, number: number, sha: string | undefined): ExecuteResult {
  const created = { number, ...(sha !== undefined && { sha }) };
  return isRepeated ? repeated(created) : done(created);
}

const queued = (entry: QueueState['mergeQueueEntry']): ExecuteResult => ({
  status: 'queued',
  message: entry ? `in the merge queue at position ${entry.position}` : 'put into the merge queue',
});

type Refused = Extract<ExecuteResult, { status: 'refused' }>;

const refuse = (kind: Refused['kind'], message: string, headSha?: string): Refused => ({
  status: 'refused',
  httpStatus: 409,
  kind,
  message,
  ...(headSha !== undefined && { headSha }),
});

const CHECKS_FAILED = ['CI_FAILURE', 'CI_TIMEOUT'];

async function removed(
  target: Target,
  { reason, beforeCommit }: QueueState['timelineItems']['nodes'][number],
): Promise<Refused> {
  const message = `the merge queue took the pull request out: ${reason ?? 'no reason given'}`;
  if (reason === 'MERGE_CONFLICT') return refuse('conflict', message);
  if (!CHECKS_FAILED.includes(reason ?? '')) return refuse('protected', message);
  const failed = beforeCommit ? await failedChecks(target, beforeCommit.oid) : [];
  return { ...refuse('queue-failed', message), failed };
}

/** Logs that are read of one commit. */
const MAX_LOGS = 5;

async function failedChecks({ client, repo }: Target, sha: string): Promise<ReportedCheck[]> {
  const failed = (await readChecks(client, repo, sha)).filter(({ state }) => state === 'failure');
  const read: ReportedCheck[] = [];
  for (const check of failed.slice(0, MAX_LOGS))
    read.push({ ...check, logTail: await readLogTail(client, repo, check) });
  return read;
}
