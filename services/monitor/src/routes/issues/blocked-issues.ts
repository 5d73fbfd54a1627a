import type { blockedIssueRoutes } from '@pipeline/contract';
import { type BlockedIssueEntry, patternsOf } from '@pipeline/domain';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';
import type { PolledValue } from '../../polling/polled-value.ts';

export interface BlockedIssueDeps {
  blocked: PolledValue<{ items: BlockedIssueEntry[]; total: number }>;
}

type Handlers = HandlersOf<typeof blockedIssueRoutes, Authentication>;

/**
 * interface: Cache-backed observability.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const blockedIssueHandlers = (deps: () => BlockedIssueDeps): Handlers => ({
  listBlockedIssues: () => {
    const { last } = deps().blocked;
    const { items, total } = last?.value ?? { items: [], total: 0 };
    const body = { issues: items, patterns: patternsOf(items), total, polledAt: last?.polledAt ?? null };
    return { status: 200, body };
  },
});
