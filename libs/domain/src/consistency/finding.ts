import { formatIssueRef, formatSlug, parseIssueNumber, parseSlug, type Slug } from '../slugs.ts';

/** Kinds in list order (interface: Consistency finding). */
export const CONSISTENCY_KINDS = [
  'stale_blocked',
  'stale_subtask_edge',
  'orphan_missing_from_pg',
  'si_linkage_gap',
  'label_drift',
  'orphan_dependency_edge',
] as const;

export type ConsistencyKind = (typeof CONSISTENCY_KINDS)[number];

/** The kinds that the store detects; the other one needs a request to the host. */
export type StoredConsistencyKind = Exclude<ConsistencyKind, 'orphan_missing_from_pg'>;

/** Two records that contradict each other (interface: Consistency finding). `detail` depends on the kind. */
export interface ConsistencyFinding {
  /** Stable: the same problem of the same issue has the same id. */
  id: string;
  kind: ConsistencyKind;
  repoOwner: string;
  repoName: string;
  issueNumber: number | null;
  detail: Record<string, unknown>;
}

/** The parts of a finding's id. */
export interface ConsistencyRef {
  kind: ConsistencyKind;
  repo: Slug;
  /** Null for findings about a whole repo. */
  issueNumber: number | null;
  /** External id of the tenant, only where several tenants have the repo enabled. */
  tenant: string | null;
}

/** `kind:owner/repo#N` or `kind:owner/repo`, with `@tenant` appended if the slug is ambiguous. */
export function formatConsistencyId({ kind, repo, issueNumber, tenant }: ConsistencyRef): string {
  const place = issueNumber === null ? formatSlug(repo) : formatIssueRef(repo, issueNumber);
  return `${kind}:${place}${tenant === null ? '' : `@${tenant}`}`;
}

/** @returns null for an invalid id. A slug has neither `#` nor `@`, so the parts are unambiguous. */
export function parseConsistencyId(id: string): ConsistencyRef | null {
  const match = /^([a-z_]+):([^#@]+)(?:#([^@]+))?(?:@(.+))?$/s.exec(id);
  if (!match) return null;
  const [, name, slug, digits, tenant] = match;
  const kind = CONSISTENCY_KINDS.find((known) => known === name);
  const repo = parseSlug(slug);
  const issueNumber = digits === undefined ? null : parseIssueNumber(digits);
  if (!kind || !repo || (digits !== undefined && issueNumber === null)) return null;
  return { kind, repo, issueNumber, tenant: tenant ?? null };
}
