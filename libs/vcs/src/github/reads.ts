import {
  type ChangedPullRequest,
  type HistoryEvent,
  type HostHistory,
  type HostIssue,
  type IssuePage,
  type IssueQuery,
  isOwnBranch,
  type PushProtection,
  type RepoRef,
  type Standing,
  type VcsHost,
} from '@pipeline/domain';
import { createMergeRules, hasNoRulesets, type OwnApp, readChecks, readIsBehind, readLogTail } from './checks.ts';
import type { Client } from './client.ts';
import { listComments } from './comments.ts';
import { toIssue, toPullRequest, toRepo, toReview } from './convert.ts';
import { answered, isHidden, withHostErrors } from './errors.ts';
import { paramsOf } from './repo-address.ts';
import { createLabels } from './repo-labels.ts';

const KINDS: readonly string[] = ['labeled', 'unlabeled', 'closed', 'reopened', 'renamed'];

/** The REST API does not report edits of a body. */
const BODY_EDIT = `query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { databaseId issue(number: $number) { lastEditedAt editor { login } } }
}`;

interface BodyEdit {
  repository: {
    databaseId: number | null;
    issue: { lastEditedAt: string | null; editor: { login: string } | null } | null;
  } | null;
}

type Reads = Pick<
  VcsHost,
  | 'getRepo'
  | 'getIssue'
  | 'historyOf'
  | 'standingOf'
  | 'listIssues'
  | 'listComments'
  | 'getPullRequest'
  | 'findPullRequests'
  | 'listReviews'
  | 'pushersOf'
  | 'hasCreatedBranch'
  | 'pushProtectionOf'
  | 'checksOf'
  | 'mergeRulesOf'
  | 'isBehind'
  | 'logTailOf'
  | 'rerunCheck'
  | 'react'
  | 'createLabels'
>;

const PAGE = 100;

/** The reading half of the port. Each call throws HostError and nothing else. */
export function createReads(client: Client, now: () => Date, ownApp: OwnApp): Reads {
  const read = <T>(call: Promise<T>) => withHostErrors(call, now);
  const { issues, pulls, repos, reactions } = client.rest;
  const mergeRulesOf = createMergeRules(client, now, ownApp);
  return {
    getRepo: async (repo) => {
      const found = await read(orNull(repos.get(paramsOf(repo))));
      return found && toRepo(found.data);
    },
    getIssue: async (repo, number) => {
      const found = await read(orNull(issues.get({ ...paramsOf(repo), issue_number: number })));
      return !found || found.data.pull_request ? null : toIssue(found.data);
    },
    historyOf: (repo, number) => read(orNull(historyOf(client, repo, number))),
    standingOf: (repo, number, etag) => read(standingOf(client, repo, number, etag)),
    listIssues: (repo, query) => read(listIssues(client, repo, query)),
    listComments: (repo, number, since) => read(listComments(client, repo, number, since)),
    getPullRequest: async (repo, number) => {
      const found = await read(orNull(pulls.get({ ...paramsOf(repo), pull_number: number })));
      return found && toPullRequest(found.data);
    },
    findPullRequests: async (repo, branch) => {
      const query = { ...paramsOf(repo), head: `${repo.owner}:${branch}`, state: 'all', sort: 'created' } as const;
      const found = await read(client.paginate(pulls.list, { ...query, direction: 'desc', per_page: PAGE }));
      // The owner of a fork may be the owner of the repository.
      return found.map(toPullRequest).filter((pull) => isOwnBranch(pull, repo));
    },
    listReviews: async (repo, prNumber) => {
      const query = { ...paramsOf(repo), pull_number: prNumber, per_page: PAGE };
      return (await read(client.paginate(pulls.listReviews, query))).map(toReview);
    },
    pushersOf: (repo, branch) => read(pushersOf(client, repo, branch)),
    hasCreatedBranch: (repo, login, prefix) => read(hasCreatedBranch(client, repo, login, prefix)),
    pushProtectionOf: (repo, branch) => read(readPushProtection(client, repo, branch)),
    checksOf: (repo, sha) => read(readChecks(client, repo, sha)),
    mergeRulesOf: (repo, branch) => read(mergeRulesOf(repo, branch)),
    isBehind: (repo, branch, sha) => read(readIsBehind(client, repo, { branch, sha })),
    logTailOf: (repo, check) => read(readLogTail(client, repo, check)),
    rerunCheck: async (repo, { hostId }) => {
      await read(client.rest.checks.rerequestRun({ ...paramsOf(repo), check_run_id: hostId }));
    },
    createLabels: (repo, descriptions) => read(createLabels(client, paramsOf(repo), descriptions)),
    react: async (repo, commentId, content) => {
      await read(reactions.createForIssueComment({ ...paramsOf(repo), comment_id: commentId, content }));
    },
  };
}

async function standingOf(client: Client, repo: RepoRef, number: number, etag?: string): Promise<Standing | null> {
  const headers = etag === undefined ? {} : { 'if-none-match': etag };
  try {
    const found = await orNull(client.rest.issues.get({ ...paramsOf(repo), issue_number: number, headers }));
    if (!found) return { state: 'missing', etag: null };
    return { state: found.data.state === 'closed' ? 'closed' : 'open', etag: found.headers.etag ?? null };
  } catch (error) {
    if (answered(error, 304)) return null;
    throw error;
  }
}

/**
 * Pages run from the newest change to the oldest: an issue that changes while we page moves to the front, so others are
 * seen twice rather than missed, and the first page's etag stands for the whole list.
 */
async function listIssues(client: Client, repo: RepoRef, query: IssueQuery): Promise<IssuePage | null> {
  const issues = new Map<number, HostIssue>();
  const pullRequests = new Map<number, ChangedPullRequest>();
  const pages = client.paginate.iterator(client.rest.issues.listForRepo, listQuery(repo, query));
  let etag: string | null | undefined;
  try {
    for await (const { data, headers } of pages) {
      if (etag === undefined) etag = headers.etag ?? null;
      for (const { number, updated_at } of data.filter((item) => item.pull_request && !pullRequests.has(item.number)))
        pullRequests.set(number, { number, updatedAt: updated_at });
      const fresh = data.filter((item) => !item.pull_request && !issues.has(item.number));
      for (const issue of fresh) issues.set(issue.number, toIssue(issue));
    }
  } catch (error) {
    if (answered(error, 304)) return null;
    throw error;
  }
  return {
    issues: [...issues.values()].reverse(),
    changedPullRequests: [...pullRequests.values()].reverse(),
    etag: etag ?? null,
  };
}

const listQuery = (repo: RepoRef, query: IssueQuery) => ({
  ...paramsOf(repo),
  state: query.state,
  sort: 'updated' as const,
  direction: 'desc' as const,
  per_page: PAGE,
  ...(query.since === undefined ? {} : { since: query.since }),
  ...(query.labels?.length ? { labels: query.labels.join(',') } : {}),
  ...(query.etag === undefined ? {} : { headers: { 'if-none-match': query.etag } }),
});

/** null for what the host does not have: 404, or 410 once it was deleted. */
async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (answered(error, 404) || answered(error, 410)) return null;
    throw error;
  }
}

/** Pushes of a branch that are read at most. */
const MAX_PUSHES = 1_000;

/** Reads all pushes of a branch. @throws Error when there are more than can be read: an account that is not known may be among them. */
async function pushersOf(client: Client, repo: RepoRef, branch: string): Promise<string[]> {
  const query = { ...paramsOf(repo), ref: `refs/heads/${branch}`, per_page: PAGE };
  let count = 0;
  const logins = await client.paginate(client.rest.repos.listActivities, query, ({ data }, done) => {
    count += data.length;
    if (count > MAX_PUSHES) done();
    return data.flatMap(({ actor }) => actor?.login ?? []);
  });
  if (count > MAX_PUSHES) throw new Error(`the branch ${branch} has more than ${MAX_PUSHES} pushes`);
  return [...new Set(logins)];
}

/** Reads the newest branches that an account created, until one of the wanted names is found. */
async function hasCreatedBranch(client: Client, repo: RepoRef, actor: string, prefix: string): Promise<boolean> {
  const query = { ...paramsOf(repo), actor, activity_type: 'branch_creation' as const, per_page: PAGE };
  let read = 0;
  for await (const { data } of client.paginate.iterator(client.rest.repos.listActivities, query)) {
    if (data.some(({ ref }) => ref.startsWith(`refs/heads/${prefix}`))) return true;
    read += data.length;
    if (read >= MAX_PUSHES) return false;
  }
  return false;
}

/** Rules of a ruleset under which no one pushes to the branch without a pull request, or at all. */
const RESTRICTING = ['pull_request', 'update', 'merge_queue'];

/**
 * Reads what prevents a writer from pushing straight to a branch: rules of rulesets, which every reader may read, and
 * classic branch protection, which takes the administration permission. Without that permission only "no protection at
 * all" can be derived from the branch itself.
 */
async function readPushProtection(client: Client, repo: RepoRef, branch: string): Promise<PushProtection> {
  const at = { ...paramsOf(repo), branch };
  const rules = (await restrictingRules(client, at))?.map((rule) => `ruleset rule ${rule}`) ?? null;
  if (rules && rules.length > 0) return { restricted: true, by: rules };
  const classic = await classicProtection(client, at);
  if (classic && classic.length > 0) return { restricted: true, by: classic };
  if (classic && rules) return { restricted: false, by: [] };
  const { data } = await client.rest.repos.getBranch(at);
  return { restricted: data.protected || rules === null ? null : false, by: [] };
}

type At = { owner: string; repo: string; branch: string };

/** Null when this identity may not read them. */
async function restrictingRules(client: Client, at: At): Promise<string[] | null> {
  try {
    const found = await client.paginate(client.rest.repos.getBranchRules, { ...at, per_page: 100 });
    return [...new Set(found.map(({ type }) => type as string).filter((type) => RESTRICTING.includes(type)))];
  } catch (error) {
    if (hasNoRulesets(error)) return [];
    if (isHidden(error)) return null;
    throw error;
  }
}

/** Null when this identity may not read it. */
async function classicProtection(client: Client, at: At): Promise<string[] | null> {
  try {
    const { data } = await client.rest.repos.getBranchProtection(at);
    return [
      ...(data.required_pull_request_reviews ? ['branch protection: pull request required'] : []),
      ...(data.restrictions ? ['branch protection: restricted pushers'] : []),
      ...(data.lock_branch?.enabled ? ['branch protection: locked'] : []),
    ];
  } catch (error) {
    if (answered(error, 404) && /branch not protected/i.test(error.message)) return [];
    if (isHidden(error)) return null;
    throw error;
  }
}

/** Reads the log of an issue, 100 entries a request, and the last edit of its body. */
async function historyOf(client: Client, repo: RepoRef, number: number): Promise<HostHistory> {
  const { owner, name } = repo;
  const query = { ...paramsOf(repo), issue_number: number, per_page: 100 };
  const [found, edited] = await Promise.all([
    client.paginate(client.rest.issues.listEvents, query),
    client.graphql<BodyEdit>(BODY_EDIT, { owner, name, number }),
  ]);
  const events = found
    .filter(({ event }) => KINDS.includes(event))
    .map((entry) => ({
      id: entry.id,
      kind: entry.event as HistoryEvent['kind'],
      label: 'label' in entry ? (entry.label?.name ?? null) : null,
      actor: entry.actor?.login ?? null,
      at: entry.created_at,
    }));
  // It is asked by name, which another repository may have taken.
  const isSame = repo.hostId == null || edited.repository?.databaseId === repo.hostId;
  const issue = isSame ? edited.repository?.issue : null;
  const bodyEdit = issue?.lastEditedAt ? { at: issue.lastEditedAt, editor: issue.editor?.login ?? null } : null;
  return { events, bodyEdit };
}
