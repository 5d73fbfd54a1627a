import {
  type HostCheck,
  logTail,
  MERGE_METHODS,
  type MergeMethod,
  type MergeRules,
  othersChecks,
  REVIEW_CONTEXT,
  type RepoRef,
} from '@pipeline/domain';
import type { Client } from './client.ts';
import { type RunFields, type StatusFields, toCheckOfRun, toCheckOfStatus } from './convert-checks.ts';
import { answered, HostError, isHidden } from './errors.ts';
import { paramsOf, repoKey } from './repo-address.ts';

const PAGE = 100;
/** A commit with more statuses than these pages hold has its oldest contexts left out. */
const MAX_PAGES = 10;

/** Throws what the host hides from this identity: it must not read as absent. @param what with its permission. */
function hidden(error: unknown, what: string): never {
  if (!isHidden(error)) throw error;
  const message = `${what} could not be read: ${error.message}`;
  throw new HostError('refused', message, { httpStatus: error.status, cause: error });
}

/** Check runs and statuses of a commit. Two requests at least. @throws HostError for those that are hidden. */
export async function readChecks(client: Client, repo: RepoRef, sha: string): Promise<HostCheck[]> {
  const [runs, statuses] = await Promise.all([readRuns(client, repo, sha), readStatuses(client, repo, sha)]);
  return othersChecks([...runs.map(toCheckOfRun), ...statuses.map(toCheckOfStatus)]);
}

async function readRuns(client: Client, repo: RepoRef, ref: string): Promise<RunFields[]> {
  try {
    return await client.paginate(client.rest.checks.listForRef, { ...paramsOf(repo), ref, per_page: PAGE });
  } catch (error) {
    return hidden(error, 'the check runs (permission `checks: read`)');
  }
}

async function readStatuses(client: Client, repo: RepoRef, ref: string): Promise<StatusFields[]> {
  const found: StatusFields[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = { ...paramsOf(repo), ref, per_page: PAGE, page };
    const { data } = await client.rest.repos.getCombinedStatusForRef(query);
    found.push(...data.statuses);
    if (data.statuses.length < PAGE) break;
  }
  return found;
}

const KEPT_MS = 60_000;
const MAX_KEPT = 10_000;

/** Reads what a merge into a branch requires, and keeps the answer for a minute: three requests for each read. */
export function createMergeRules(client: Client, now: () => Date, ownApp: OwnApp) {
  const kept = new Map<string, { rules: MergeRules; until: number }>();
  return async (repo: RepoRef, branch: string): Promise<MergeRules> => {
    const key = `${repoKey(repo)} ${branch}`;
    const known = kept.get(key);
    if (known && known.until > now().getTime()) return known.rules;
    const rules = await readMergeRules(client, { repo, branch }, ownApp);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(key, { rules, until: now().getTime() + KEPT_MS });
    return rules;
  };
}

/** Reads the id of the app whose tokens the client uses; undefined = it uses the token of a user. */
export type OwnApp = (() => Promise<number>) | undefined;

interface RequiredCheck {
  context: string;
  /** Id of the app that has to report it; null = any account. */
  app: number | null;
}

async function isOfOwnApp(gates: readonly RequiredCheck[], ownApp: OwnApp): Promise<boolean> {
  const own = await ownApp?.();
  return own !== undefined && gates.some(({ app }) => app === own);
}

async function readMergeRules(
  client: Client,
  { repo, branch }: { repo: RepoRef; branch: string },
  ownApp: OwnApp,
): Promise<MergeRules> {
  const [rules, classic, allowed] = await Promise.all([
    rulesOf(client, repo, branch),
    classicChecks(client, repo, branch),
    allowedMethods(client, repo),
  ]);
  const required = rules.flatMap(({ type, parameters }) =>
    type === 'required_status_checks' ? (parameters?.required_status_checks ?? []) : [],
  );
  const all = [...classic, ...required.map(({ context, integration_id: app }) => ({ context, app: app ?? null }))];
  const gates = all.filter(({ context }) => context === REVIEW_CONTEXT);
  const methods = rules.reduce((left, rule) => left.filter((method) => permits(rule, method)), allowed);
  return {
    requiredChecks: [...new Set(all.map(({ context }) => context))].filter((name) => name !== REVIEW_CONTEXT),
    reviewGate: gates.length === 0 ? 'none' : (await isOfOwnApp(gates, ownApp)) ? 'app' : 'any',
    methods: methods.length > 0 ? methods : allowed,
  };
}

/** Fields of a rule of a ruleset that are read. */
interface Rule {
  type: string;
  parameters?: {
    required_status_checks?: { context: string; integration_id?: number | null }[];
    allowed_merge_methods?: string[];
  };
}

function permits({ type, parameters }: Rule, method: MergeMethod): boolean {
  if (type === 'required_linear_history') return method !== 'merge';
  const methods = type === 'pull_request' ? parameters?.allowed_merge_methods : undefined;
  return methods === undefined || methods.includes(method);
}

/**
 * Returns whether a plan or a server has no rulesets. Another 403 is a missing permission. A 404 is a server without
 * them, because the repository itself is read beside them.
 */
export const hasNoRulesets = (error: unknown): boolean =>
  isHidden(error) && (error.status === 404 || /upgrade to github/i.test(error.message));

async function rulesOf(client: Client, repo: RepoRef, branch: string): Promise<Rule[]> {
  try {
    const query = { ...paramsOf(repo), branch, per_page: PAGE };
    return (await client.paginate(client.rest.repos.getBranchRules, query)) as Rule[];
  } catch (error) {
    if (hasNoRulesets(error)) return [];
    return hidden(error, 'the rulesets of the branch');
  }
}

/** The checks of classic protection: visible to every reader of the branch. */
async function classicChecks(client: Client, repo: RepoRef, branch: string): Promise<RequiredCheck[]> {
  try {
    const { data } = await client.rest.repos.getBranch({ ...paramsOf(repo), branch });
    const required = data.protection?.required_status_checks;
    if (!required || required.enforcement_level === 'off') return [];
    const apps = new Map(required.checks.map(({ context, app_id: app }) => [context, app]));
    return required.contexts.map((context) => ({ context, app: apps.get(context) ?? null }));
  } catch (error) {
    return hidden(error, 'the protection of the branch (permission `contents: read`)');
  }
}

/** The host shows these settings only to those who may push; to others nothing is known to be forbidden. */
async function allowedMethods(client: Client, repo: RepoRef): Promise<MergeMethod[]> {
  const { data } = await client.rest.repos.get(paramsOf(repo));
  const allowed: Record<MergeMethod, boolean | undefined> = {
    squash: data.allow_squash_merge,
    merge: data.allow_merge_commit,
    rebase: data.allow_rebase_merge,
  };
  return MERGE_METHODS.filter((method) => allowed[method] !== false);
}

/**
 * Returns whether a branch has commits that a commit does not contain. The second page leaves out the changed files.
 */
export async function readIsBehind(
  client: Client,
  repo: RepoRef,
  { branch, sha }: { branch: string; sha: string },
): Promise<boolean> {
  try {
    const query = { ...paramsOf(repo), basehead: `${branch}...${sha}`, per_page: 1, page: 2 };
    const { data } = await client.rest.repos.compareCommitsWithBasehead(query);
    return data.behind_by > 0;
  } catch (error) {
    // The commit was replaced by a push: the host refuses its merge.
    if (answered(error, 404)) return false;
    throw error;
  }
}

/** The end of a failed job's log; of a check run that is no job, of its output. At most two requests. */
export async function readLogTail(client: Client, repo: RepoRef, check: HostCheck): Promise<string | null> {
  if (check.kind === 'status') return null;
  try {
    // The host redirects to a file elsewhere; its text is no JSON.
    const request = { plainText: true };
    const { data } = await client.rest.actions.downloadJobLogsForWorkflowRun({
      ...paramsOf(repo),
      job_id: check.hostId,
      request,
    });
    if (typeof data === 'string' && data.trim() !== '') return logTail(data);
  } catch (error) {
    if (!isHidden(error) && !answered(error, 410)) throw error;
  }
  const { data } = await client.rest.checks.get({ ...paramsOf(repo), check_run_id: check.hostId });
  const text = [data.output.title, data.output.summary, data.output.text].filter(Boolean).join('\n\n');
  return text === '' ? null : logTail(text);
}
