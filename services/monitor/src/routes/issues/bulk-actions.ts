import {
  type AnswerOf,
  type actOnIssues,
  type BodyOf,
  type bulkActionRoutes,
  errorCatalogue,
} from '@pipeline/contract';
import { AppError, type ErrorCode, fingerprintsMeant } from '@pipeline/domain';
import { type BulkOutcome, type BulkRequest, type BulkResult, type Engine, runBulkAction } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { deadlineSignal, type Logger } from '@pipeline/runtime';
import { type IssuePosition, isUnavailable, type SelectedIssue } from '@pipeline/store';
import { actorOf } from '../../auth/actor.ts';
import type { Authentication } from '../../auth/authentication.ts';

type Handlers = HandlersOf<typeof bulkActionRoutes, Authentication>;
type Body = BodyOf<typeof actOnIssues>;

/** Shorter than what requests are given when the process stops, so that no call is cut off then. */
const BEGIN_FOR_MS = 5_000;

/**
 * Actions on many issues at once.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const bulkActionHandlers = (deps: () => { engine: Engine }): Handlers => ({
  actOnIssues: async ({ body, identity, signal, log }) => {
    const actor = actorOf(identity, body.reason);
    const until = deadlineSignal(BEGIN_FOR_MS, signal);
    const result = await runBulkAction(deps().engine, requestOf(body), actor, until);
    if (result.unrecorded !== null)
      log.error('bulk action was not recorded in the audit log', { error: result.unrecorded });
    return { status: 200, body: { ok: true, dryRun: body.dryRun, ...answerOf(result, log) } };
  },
});

function requestOf(body: Body): BulkRequest {
  const { tenant, repo, errorPattern, fingerprint, ...criteria } = body.filter;
  const { action } = body;
  return {
    what: action === 'transition' ? { action, targetState: body.targetState } : { action },
    where: { tenant, repo },
    criteria: { ...criteria, fingerprints: fingerprintsMeant(errorPattern, fingerprint) },
    after: body.after === undefined ? null : positionOf(body.after),
    limit: body.limit,
    dryRun: body.dryRun,
  };
}

const positionOf = (text: string): IssuePosition => {
  const [tenantId = 0, repoId = 0, number = 0] = text.split('.').map(Number);
  return { tenantId, repoId, number };
};

type Figures = Omit<Extract<AnswerOf<typeof actOnIssues>, { status: 200 }>['body'], 'ok' | 'dryRun'>;

function answerOf({ matched, chosen, outcomes, next }: BulkResult, log: Logger): Figures {
  const shown = outcomes.length === 0 ? chosen : outcomes.map(({ issue, ...end }) => ({ ...issue, ...end }));
  const count = (kind: BulkOutcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length;
  return {
    matched,
    succeeded: count('succeeded'),
    skipped: count('skipped'),
    failed: outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? [failureOf(outcome, log)] : [])),
    issues: shown.map((issue) => ({ ...nameOf(issue), title: issue.title, state: issue.state })),
    next: next && `${next.tenantId}.${next.repoId}.${next.number}`,
  };
}

const nameOf = ({ repo, tenant, number }: SelectedIssue) => ({ repo, tenant, issueNumber: number });

function failureOf({ issue, error }: { issue: SelectedIssue; error: unknown }, log: Logger): Figures['failed'][number] {
  const name = nameOf(issue);
  if (error instanceof AppError) return { ...name, code: error.code, error: error.message || textOf(error.code) };
  log.error('bulk action failed for one issue', { ...name, error });
  const code = isUnavailable(error) ? 'STORE_UNAVAILABLE' : 'INTERNAL_ERROR';
  return { ...name, code, error: textOf(code) };
}

const textOf = (code: ErrorCode): string => errorCatalogue[code].text;
