import {
  CONSISTENCY_KINDS,
  type ConsistencyFinding,
  type ConsistencyKind,
  formatConsistencyId,
  type Slug,
  type StoredConsistencyKind,
} from '@pipeline/domain';
import { countDetected, type Detected, detect, sharedSlugs } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

/** Further findings of one kind are counted, not listed: they have one common cause. */
const LISTED = 10_000;

interface Consistency {
  /** Findings by kind, then by repo and issue: at most 10,000 of each kind. */
  findings: ConsistencyFinding[];
  /** Total number. */
  total: number;
}

/** The kinds that the store detects. */
const STORED_KINDS = CONSISTENCY_KINDS.filter(
  (kind): kind is StoredConsistencyKind => kind !== 'orphan_missing_from_pg',
);

/**
 * All inconsistencies in the store, over all tenants (interface: Data-consistency findings). `OrphanWatch` finds those
 * that need the host. One statement for each kind, one after the other. The cost is proportional to possible findings,
 * not to stored rows, except for orphan_dependency_edge, which reads every edge.
 */
export async function listFindings(engine: Engine): Promise<Consistency> {
  const { db } = engine.store;
  const shared = await sharedSlugs(db);
  const findings: ConsistencyFinding[] = [];
  let unlisted = 0;
  for (const kind of STORED_KINDS) {
    const found = await detect(db, kind, 'all', LISTED);
    findings.push(...found.map((one) => findingOf(kind, one, shared.has(one.slugKey))));
    if (found.length === LISTED) unlisted += (await countDetected(db, kind)) - found.length;
  }
  return { findings, total: findings.length + Math.max(0, unlisted) };
}

type Found = Pick<Detected, 'tenant' | 'issueNumber' | 'detail'> & { repo: Slug };

/** @param shared whether several enabled repos have the slug, so that the id must name the tenant. */
export const findingOf = (kind: ConsistencyKind, found: Found, shared: boolean): ConsistencyFinding => ({
  id: formatConsistencyId({ ...found, kind, tenant: shared ? found.tenant : null }),
  kind,
  repoOwner: found.repo.owner,
  repoName: found.repo.name,
  issueNumber: found.issueNumber,
  detail: found.detail,
});
