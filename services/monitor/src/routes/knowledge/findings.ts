import type { findingRoutes } from '@pipeline/contract';
import { AppError, type FindingMove } from '@pipeline/domain';
import { decideOnFinding, type Engine, findIssueKey } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { findingsOfIssue, findingsOfRepo, type ListedFinding } from '@pipeline/store';
import { actorOf } from '../../auth/actor.ts';
import type { Authentication, Operator } from '../../auth/authentication.ts';
import { repoNamedBy } from '../parameters/repo-named-by.ts';
import { isUuid } from '../parameters/uuid.ts';

type Handlers = HandlersOf<typeof findingRoutes, Authentication>;

/**
 * interface: Findings and intelligence.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const findingHandlers = (deps: () => { engine: Engine }): Handlers => {
  const moved =
    (move: FindingMove) =>
    async ({ params, body, identity }: Move) => {
      if (!isUuid(params.id)) throw new AppError('NOT_FOUND', `Finding not found: ${params.id}`);
      const request = { id: params.id, move, issueNumber: body.issueNumber };
      const finding = await decideOnFinding(deps().engine, request, actorOf(identity, body.reason));
      return { status: 200 as const, body: { ok: true as const, finding } };
    };
  return {
    listIssueFindings: async ({ params, query: { limit, offset, tenant } }) => {
      const { engine } = deps();
      const key = await findIssueKey(engine, { ...params, tenant, number: Number(params.issue) }).catch(nobodyKnows);
      const rows = key && (await findingsOfIssue(engine.store.reads, key, { limit: limit + 1, offset }));
      const items = (rows ?? []).slice(0, limit).map(shown);
      const hasMore = (rows ?? []).length > limit;
      return { status: 200, body: { items, page: { total: null, limit, offset, hasMore } } };
    },

    listFindings: async ({
      query: { repo: slug, tenant, limit, offset, status = null, category = null, severity = null },
    }) => {
      const { engine } = deps();
      const repo = await repoNamedBy(engine, { slug, tenant });
      const filter = { status, category, severity };
      const { items, total } = await findingsOfRepo(engine.store.reads, repo, filter, { limit, offset });
      const hasMore = offset + items.length < total;
      return { status: 200, body: { items, page: { total, limit, offset, hasMore } } };
    },

    acceptFinding: moved('accept'),
    resolveFinding: moved('resolve'),
    dismissFinding: moved('dismiss'),
    reopenFinding: moved('reopen'),
  };
};

interface Move {
  params: { id: string };
  body: { reason?: string | undefined; issueNumber?: number | undefined };
  identity: Operator;
}

/** An unknown issue has no findings. */
function nobodyKnows(error: unknown): null {
  if (error instanceof AppError && ['NOT_FOUND', 'ISSUE_NOT_FOUND'].includes(error.code)) return null;
  throw error;
}

/** Returns the fields of a finding that the list of one issue shows. */
const shown = (finding: ListedFinding) => ({
  id: finding.id,
  agentName: finding.agentName,
  taskId: finding.taskId,
  findingType: finding.findingType,
  category: finding.category,
  severity: finding.severity,
  confidence: finding.confidence,
  title: finding.title,
  summary: finding.summary,
  recommendation: finding.recommendation,
  evidence: finding.evidence,
  blocksProgress: finding.blocksProgress,
  status: finding.status,
  issueNumber: finding.issueNumber,
  createdAt: finding.createdAt,
  updatedAt: finding.updatedAt,
});
