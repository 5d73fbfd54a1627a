import { type Anchors, type ChangedFilesSource, extractAnchors, type RetrievalAgent } from '@pipeline/domain';
import { type Db, findIssue, findPullRequest, issueById, pullRequestsOf } from '@pipeline/store';

/** The requesting agent and its subject. */
export interface RetrievalRequest {
  tenantId: number;
  repoId: number;
  agent: RetrievalAgent;
  issueNumber: number | null;
  prNumber: number | null;
  /** Tokens; null = as configured. */
  budget: number | null;
}

type ReadIssue = NonNullable<Awaited<ReturnType<typeof issueById>>>;

/** The input of retrieval. */
export interface RetrievalSubject {
  issue: ReadIssue | undefined;
  prFound: boolean | null;
  anchors: Anchors;
  /** Null for agents that do not get the plan. */
  planned: string[] | null;
  changed: string[] | null;
  changedFilesSource: ChangedFilesSource;
}

type Read = { issue: ReadIssue | undefined; changed: string[] | null; prFound: boolean | null };

/** Reads the issue and, for a reviewer, the changes of the pull request; a developer gets the plan. */
export async function subjectOfRetrieval(db: Db, request: RetrievalRequest): Promise<RetrievalSubject> {
  const { tenantId, repoId, agent, issueNumber } = request;
  const named = issueNumber === null ? undefined : await findIssue(db, tenantId, repoId, issueNumber);
  const { issue, changed, prFound } = agent === 'reviewer' ? await reviewed(db, request, named) : unreviewed(named);
  return {
    issue,
    prFound,
    anchors: extractAnchors({ title: issue?.title ?? '', body: issue?.body ?? '', labels: issue?.labels ?? [] }),
    planned: agent === 'developer' ? (issue?.planned_files ?? []) : null,
    changed,
    changedFilesSource: agent !== 'reviewer' ? 'not_applicable' : changed === null ? 'unavailable' : 'stored',
  };
}

const unreviewed = (issue: ReadIssue | undefined): Read => ({ issue, changed: null, prFound: null });

/**
 * The named pull request, else the pipeline's newest for the issue; and the issue that it belongs to, if none is named.
 */
async function reviewed(
  db: Db,
  { tenantId, repoId, prNumber }: RetrievalRequest,
  named: ReadIssue | undefined,
): Promise<Read> {
  const own = named && prNumber === null ? await pullRequestsOf(db, tenantId, named.id) : [];
  const pr =
    prNumber === null
      ? own.filter((pr) => pr.agent_authored).toSorted((a, b) => b.number - a.number)[0]
      : await findPullRequest(db, tenantId, repoId, prNumber);
  if (!pr) return { issue: named, changed: null, prFound: prNumber === null && !named ? null : false };
  const issue = named ?? (pr.issue_id === null ? undefined : await issueById(db, tenantId, pr.issue_id));
  return { issue, changed: pr.changed_files.length > 0 ? pr.changed_files : null, prFound: true };
}
