import { randomUUID } from 'node:crypto';
import { AppError, type IssueCriteria, meets, requireSlug, type State } from '@pipeline/domain';
import {
  countIssues,
  filteredOf,
  type IssuePosition,
  type IssueSelection,
  isUnavailable,
  type SelectedIssue,
  selectIssues,
  tenantIdOf,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { openIssue } from '../context/load-issue.ts';
import { recordOperation } from '../records/records.ts';
import { findRepoAt } from '../repos/repo-address.ts';
import { type IssueAction, performOn } from './issue-actions.ts';
import { moveTo } from './transition.ts';

/** Maximum of the count. */
const MOST_COUNTED = 10_000;

export interface BulkRequest {
  /** A transition uses an outgoing edge of each issue's current state. */
  what: { action: Exclude<IssueAction, 'reimplement'> } | { action: 'transition'; targetState: string };
  /** External id of the tenant, slug of the repo; neither = all enabled repos. */
  where: { tenant?: string | undefined; repo?: string | undefined };
  criteria: IssueCriteria;
  /** Only issues after this position. */
  after: IssuePosition | null;
  limit: number;
  dryRun: boolean;
}

/** Result for one issue. `skipped` = it no longer met the filter when its turn came. */
export type BulkOutcome = { issue: SelectedIssue } & (
  | { kind: 'succeeded'; state: State }
  | { kind: 'skipped' }
  | { kind: 'failed'; error: unknown }
);

export interface BulkResult {
  /** Number of issues that met the filter after `after`; 10,000 = that many or more. */
  matched: number;
  /** The issues of this call, in order; for a dry run those that it would change. */
  chosen: SelectedIssue[];
  /** One result per issue that was started. */
  outcomes: BulkOutcome[];
  /** The `after` of the next call; null = all were reached. */
  next: IssuePosition | null;
  /** Why the call has no log entry of its own, if it has none; the entries of the issues exist. */
  unrecorded: unknown;
}

/** Called before every issue. */
const START: IssuePosition = { tenantId: 0, repoId: 0, number: 0 };

/**
 * Applies one action to all issues that meet a filter, at most `limit` of them. Each is its own transaction, by the use
 * case of the single action, and checked again under its lock: an issue that no longer matches is skipped. So at any
 * end each issue is either done or unchanged, and repeating the call does the rest.
 * @param signal no further issue is started once it is aborted.
 * @throws AppError NOT_FOUND for an unknown tenant or repo, INVALID_INPUT when the tenant must be named.
 */
export async function runBulkAction(
  engine: Engine,
  request: BulkRequest,
  actor: Actor,
  signal: AbortSignal,
): Promise<BulkResult> {
  const { criteria, after, limit, dryRun } = request;
  const { db } = engine.store;
  const selection: IssueSelection = { criteria, after, scope: await scopeOf(engine, request.where) };
  const found = await selectIssues(db, selection, limit + 1);
  const chosen = found.slice(0, limit);
  const matched = found.length <= limit ? found.length : await countIssues(db, selection, MOST_COUNTED);
  if (dryRun) return { matched, chosen, outcomes: [], next: nextOf(found, chosen, after), unrecorded: null };
  const by = { ...actor, bulkId: randomUUID() };
  const outcomes = await actOnEach(engine, request, { chosen, by, signal });
  const unrecorded = await recordBulk(engine, request, outcomes, by).then(
    () => null,
    (error: unknown) => error,
  );
  const settled = outcomes.filter((outcome) => !isOutage(outcome)).map(({ issue }) => issue);
  return { matched, chosen, outcomes, next: nextOf(found, settled, after), unrecorded };
}

function nextOf(
  found: readonly SelectedIssue[],
  reached: readonly SelectedIssue[],
  after: IssuePosition | null,
): IssuePosition | null {
  if (reached.length === found.length) return null;
  const { tenantId, repoId, number } = reached.at(-1) ?? after ?? START;
  return { tenantId, repoId, number };
}

async function scopeOf(engine: Engine, { tenant, repo }: BulkRequest['where']): Promise<IssueSelection['scope']> {
  if (repo !== undefined) {
    const { owner, name } = requireSlug(repo);
    const { tenant_id, id } = await findRepoAt(engine, { owner, repo: name, tenant });
    return { tenantId: tenant_id, repoId: id };
  }
  if (tenant === undefined) return 'all';
  const tenantId = await tenantIdOf(engine.store.db, tenant);
  if (tenantId === null) throw new AppError('NOT_FOUND', `Tenant not found: ${tenant}`);
  return { tenantId };
}

interface Round {
  chosen: readonly SelectedIssue[];
  by: Actor;
  signal: AbortSignal;
}

async function actOnEach(engine: Engine, request: BulkRequest, { chosen, by, signal }: Round): Promise<BulkOutcome[]> {
  const outcomes: BulkOutcome[] = [];
  for (const issue of chosen) {
    if (signal.aborted) break;
    const outcome = await actOnOne(engine, request, issue, by).catch(
      (error: unknown) => ({ issue, kind: 'failed', error }) as const,
    );
    outcomes.push(outcome);
    // The others would only wait for the same outage: they are left for the next call.
    if (isOutage(outcome)) break;
  }
  return outcomes;
}

const isOutage = (outcome: BulkOutcome): boolean => outcome.kind === 'failed' && isUnavailable(outcome.error);

function actOnOne(engine: Engine, request: BulkRequest, issue: SelectedIssue, by: Actor): Promise<BulkOutcome> {
  const { what, criteria } = request;
  return inTenant(engine, issue.tenantId, async (unit) => {
    const open = await openIssue(unit, issue.issueId);
    if (!open || !meets(filteredOf(open.subject.issue), criteria)) return { issue, kind: 'skipped' };
    const state =
      what.action === 'transition'
        ? (await moveTo(unit, open, what.targetState, by)).to
        : await performOn(unit, open, what.action, by);
    return { issue, kind: 'succeeded', state };
  });
}

/**
 * Records a bulk call: actor, filter, reason and results. Logs belong to repos, so each repo that the call reached gets
 * an entry with its own counts; `bulkId` links them and the entries of the issues.
 */
async function recordBulk(
  engine: Engine,
  { what, where, criteria }: BulkRequest,
  outcomes: readonly BulkOutcome[],
  actor: Actor,
): Promise<void> {
  const byTenant = Map.groupBy(outcomes, ({ issue }) => issue.tenantId);
  for (const [tenantId, ofTenant] of byTenant) {
    await inTenant(engine, tenantId, async (unit) => {
      for (const [repoId, ofRepo] of Map.groupBy(ofTenant, ({ issue }) => issue.repoId)) {
        const numbers = (kind: BulkOutcome['kind']) =>
          ofRepo.filter((outcome) => outcome.kind === kind).map(({ issue }) => issue.number);
        recordOperation(unit, { issue: { id: null, repo_id: repoId, issue_number: null } }, actor, {
          ...what,
          action: `bulk-${what.action}`,
          filter: { ...where, ...criteria },
          succeeded: numbers('succeeded').length,
          skipped: numbers('skipped').length,
          failed: numbers('failed'),
        });
      }
    });
  }
}
