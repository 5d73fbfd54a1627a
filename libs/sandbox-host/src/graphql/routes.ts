import { Router } from 'express';
import { z } from 'zod';
import { allows, requireRole } from '../access/roles.ts';
import type { Viewer } from '../apps/auth.ts';
import { grants } from '../apps/grants.ts';
import { readBody, viewerOf } from '../http/request.ts';
import { announce, isPull, pullOf, saveIssue } from '../issues/changes.ts';
import { methodsOf, obstaclesOf } from '../protection/gate.ts';
import { rulesOf } from '../protection/rules.ts';
import { setAutoMerge } from '../queue/auto-merge.ts';
import { addEntry, entryOf, removeEntry } from '../queue/entries.ts';
import { nodeId } from '../render/basics.ts';
import type { Permission } from '../state/app-records.ts';
import {
  type EventRecord,
  GLOBAL,
  type MergeMethod,
  type PullIssue,
  type RepoRecord,
  type Sandbox,
} from '../state/model.ts';
import { change, findKnownRepo } from '../state/sandbox.ts';

const Query = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()) });
const ById = z.object({ id: z.string() });
const OfIssue = z.object({ owner: z.string(), name: z.string(), number: z.int() });
const MUTATIONS = { convertPullRequestToDraft: true, markPullRequestReadyForReview: false };

/** Requests about merging, by the text that identifies each; the query of the queue is the only one that reads. */
const OF_MERGES = {
  enqueuePullRequest: { level: 'write', answer: enqueue },
  dequeuePullRequest: { level: 'write', answer: dequeue },
  enablePullRequestAutoMerge: { level: 'write', answer: enableAutoMerge },
  disablePullRequestAutoMerge: { level: 'write', answer: disableAutoMerge },
  mergeQueueEntry: { level: 'read', answer: queueState },
} as const;

/**
 * Only what the REST API has no counterpart for: drafts, the merge queue, merges that are left to the host, and the last
 * edit of an issue's body.
 */
export function graphqlRoutes(sandbox: Sandbox): Router {
  const router = Router();
  router.post('/graphql', async (req, res) => {
    const viewer: Viewer = viewerOf(res);
    const { login } = viewer;
    const { query, variables } = readBody(Query, req, 'Query');
    if (query.includes('lastEditedAt')) {
      res.json({ data: { repository: bodyEdit(sandbox, viewer, OfIssue.parse(variables)) } });
      return;
    }
    const merging = Object.entries(OF_MERGES).find(([name]) => query.includes(name))?.[1];
    if (merging) {
      res.json(await ofMerge(sandbox, viewer, { variables, ...merging }));
      return;
    }
    const mutation = Object.entries(MUTATIONS).find(([name]) => query.includes(name));
    if (!mutation) {
      res.json({
        errors: [{ type: 'NOT_SUPPORTED', message: `known mutations: ${Object.keys(MUTATIONS).join(', ')}` }],
      });
      return;
    }
    const { id } = ById.parse(variables);
    const found = findPull(sandbox, id);
    if (!found) {
      res.json(unresolved(id));
      return;
    }
    const [repo, issue] = found;
    if (!mayUse(viewer, repo, 'pull_requests', 'write')) {
      res.json({ data: null, errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }] });
      return;
    }
    requireRole(repo, login, 'write');
    const [name, draft] = mutation;
    change(sandbox, () => {
      const saved = saveIssue(sandbox, repo, { ...issue, pull: { ...issue.pull, draft } });
      announce(sandbox, repo, saved, { action: draft ? 'converted_to_draft' : 'ready_for_review', by: login });
    });
    res.json({ data: { [name]: { pullRequest: { isDraft: draft } } } });
  });
  return router;
}

type OfMerge = (typeof OF_MERGES)[keyof typeof OF_MERGES] & { variables: unknown };

async function ofMerge(sandbox: Sandbox, viewer: Viewer, { level, answer, variables }: OfMerge) {
  const { id } = ById.parse(variables);
  const [repo, issue] = findPull(sandbox, id) ?? [];
  if (!repo || !issue || !allows(repo, viewer.login, 'read')) return unresolved(id);
  const isAllowed = mayUse(viewer, repo, 'pull_requests', level) && allows(repo, viewer.login, level);
  if (isAllowed) return answer(sandbox, { repo, issue, login: viewer.login }, variables);
  return { data: null, errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }] };
}

const unresolved = (id: string) => ({
  data: null,
  errors: [{ type: 'NOT_FOUND', message: `Could not resolve to a node with the global id of '${id}'` }],
});

/** Returns whether the grant of an app allows it; people are limited by their role alone. */
const mayUse = ({ grant }: Viewer, repo: RepoRecord, right: Permission, level: 'read' | 'write'): boolean =>
  !grant || grants(grant, repo, right, level);

function bodyEdit(sandbox: Sandbox, viewer: Viewer, { owner, name, number }: z.output<typeof OfIssue>) {
  const { state } = sandbox;
  const repo = findKnownRepo(sandbox, owner, name);
  if (!repo || !allows(repo, viewer.login, 'read') || !mayUse(viewer, repo, 'issues', 'read')) return null;
  const issue = state.get('issue', repo.id, number);
  if (!issue || isPull(issue)) return { databaseId: repo.id, issue: null };
  const { bodyEdit: edit } = issue;
  const shown = { lastEditedAt: edit?.at ?? null, editor: edit ? { login: edit.editor } : null };
  return { databaseId: repo.id, issue: shown };
}

function findPull({ state }: Sandbox, id: string): [RepoRecord, PullIssue] | null {
  for (const repo of state.list('repo', GLOBAL)) {
    const found = state.list('issue', repo.id).find((issue) => nodeId('PullRequest', issue.id) === id);
    if (found && isPull(found)) return [repo, found];
  }
  return null;
}

/** A pull request that a GraphQL request is about, and who sent it. */
interface About {
  repo: RepoRecord;
  issue: PullIssue;
  login: string;
}

type Answer = { data: object | null; errors?: { type: string; message: string }[] };

const unprocessable = (message: string): Answer => ({ data: null, errors: [{ type: 'UNPROCESSABLE', message }] });

const Enqueue = z.object({ head: z.string().optional() });

/** `enqueuePullRequest`: only what could be merged but for the queue gets into it. */
export async function enqueue(sandbox: Sandbox, { repo, issue, login }: About, variables: unknown): Promise<Answer> {
  const { head } = Enqueue.parse(variables);
  const { pull } = issue;
  if (!rulesOf(sandbox, repo, pull.baseRef).queue) return unprocessable('The base branch does not have a merge queue');
  if (issue.state === 'closed' || pull.draft) return unprocessable('Pull request is not mergeable');
  if (head !== undefined && head !== pull.headSha)
    return unprocessable('Head branch was modified. Review and try again.');
  if (entryOf(sandbox, repo, issue.number)) return unprocessable('Pull request is already in the queue');
  const [obstacle] = await obstaclesOf(sandbox, repo, issue, { login, fromQueue: true });
  if (obstacle) return unprocessable(obstacle.words);
  const entry = addEntry(sandbox, repo, issue, login);
  sandbox.queue.consider(repo);
  return { data: { enqueuePullRequest: { mergeQueueEntry: { id: String(entry.id), state: 'QUEUED' } } } };
}

/** `dequeuePullRequest` by a person. */
export function dequeue(sandbox: Sandbox, { repo, issue, login }: About): Answer {
  const entry = entryOf(sandbox, repo, issue.number);
  if (!entry) return unprocessable('Pull request is not in the queue');
  removeEntry(sandbox, repo, issue, { entry, reason: 'MANUAL', by: login });
  sandbox.queue.consider(repo);
  return { data: { dequeuePullRequest: { mergeQueueEntry: { id: String(entry.id) } } } };
}

const AutoMerge = z.object({ method: z.enum(['MERGE', 'SQUASH', 'REBASE']).default('MERGE') });

/** `enablePullRequestAutoMerge`: only of what cannot be merged yet. */
async function enableAutoMerge(sandbox: Sandbox, { repo, issue, login }: About, variables: unknown): Promise<Answer> {
  const { method } = AutoMerge.parse(variables);
  if (!repo.allowAutoMerge) return unprocessable('Pull request Auto merge is not allowed for this repository');
  if (issue.state === 'closed' || issue.pull.draft) return unprocessable('Pull request is not mergeable');
  const obstacles = await obstaclesOf(sandbox, repo, issue, { login });
  if (obstacles.length === 0) return unprocessable('Pull request Pull request is in clean status');
  const wanted = method.toLowerCase() as MergeMethod;
  if (!methodsOf(sandbox, repo, issue.pull.baseRef).includes(wanted))
    return unprocessable(`Merge method ${wanted} merging is not allowed on this repository`);
  setAutoMerge(sandbox, repo, issue, { method: wanted, by: login });
  sandbox.queue.consider(repo);
  return { data: { enablePullRequestAutoMerge: { pullRequest: { number: issue.number } } } };
}

/** `disablePullRequestAutoMerge`. */
function disableAutoMerge(sandbox: Sandbox, { repo, issue, login }: About): Answer {
  if (!issue.pull.autoMerge) return unprocessable("Can't disable auto-merge for this pull request.");
  setAutoMerge(sandbox, repo, issue, { method: null, by: login });
  return { data: { disablePullRequestAutoMerge: { pullRequest: { number: issue.number } } } };
}

/**
 * Returns the position of a pull request in the queue, and the last entry of its log about its commits and the queue.
 */
export function queueState(sandbox: Sandbox, { repo, issue: { number } }: About): Answer {
  const issue = pullOf(sandbox, repo, number);
  const entries = sandbox.state.list('queueEntry', repo.id);
  const index = entries.findIndex(({ pullNumber }) => pullNumber === number);
  const state = entries[index]?.group ? 'AWAITING_CHECKS' : 'QUEUED';
  const last = sandbox.state
    .list('event', repo.id, number)
    .findLast(({ event }) => event === 'added_to_merge_queue' || event === 'removed_from_merge_queue');
  const node = {
    state: issue.pull.mergedAt === null ? issue.state.toUpperCase() : 'MERGED',
    headRefOid: issue.pull.headSha,
    mergeQueueEntry: index < 0 ? null : { state, position: index + 1 },
    timelineItems: { nodes: [timelineItem(issue, last)] },
  };
  return { data: { node } };
}

/** A push after the removal is the newer entry. */
function timelineItem({ pull }: PullIssue, last: EventRecord | undefined) {
  if (!last || (last.removal && last.removal.headSha !== pull.headSha)) return { __typename: 'PullRequestCommit' };
  if (!last.removal) return { __typename: 'AddedToMergeQueueEvent' };
  const { reason, groupSha } = last.removal;
  return {
    __typename: 'RemovedFromMergeQueueEvent',
    reason,
    beforeCommit: groupSha === null ? null : { oid: groupSha },
  };
}
