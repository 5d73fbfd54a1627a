/** Rule for the `limit` of one list (interface: Limits). */
interface PageRule {
  default: number;
  min: number;
  max: number;
  /** Treatment of a value that is no whole number: a 400, or the default. */
  notANumber: 'refuse' | 'default';
  /** Treatment of a limit below `min` or an offset below 0: clamped, or a 400. */
  tooSmall: 'clamp' | 'refuse';
}

const rule = (standard: number, max: number, strictness: Partial<PageRule> = {}): PageRule => ({
  default: standard,
  min: 1,
  max,
  notANumber: 'refuse',
  tooSmall: 'clamp',
  ...strictness,
});

/** Every list with pages, by resource. A value above the maximum is always clamped. */
export const PAGE_RULES = {
  /** Surface A. */
  issues: rule(100, 500),
  issueFindings: rule(100, 200),
  findings: rule(100, 200),
  intelligence: rule(200, 500),
  issueEvents: rule(50, 200),
  agentMessages: rule(500, 2_000),
  logs: rule(200, 1_000, { tooSmall: 'refuse' }),
  deadLetters: rule(100, 500, { notANumber: 'default' }),
  consistency: rule(100, 500, { notANumber: 'default' }),
  pipelineEvents: rule(50, 200, { notANumber: 'default' }),
  /** Pages by cursor, without an offset. */
  audit: rule(100, 500),
} as const satisfies Record<string, PageRule>;

/** Buckets of the state time series; no page, but clamped in the same way. */
export const BUCKETS = { default: 48, min: 1, max: 168 } as const;

/** The largest offset that a 32-bit integer column expression holds. */
export const MAX_OFFSET = 2_147_483_647;

/** A whole number inside the bounds; the default for an absent or invalid value. */
export function clamp(value: number | undefined, bounds: { default: number; min: number; max: number }): number {
  if (value === undefined || Number.isNaN(value)) return bounds.default;
  return Math.min(bounds.max, Math.max(bounds.min, Math.trunc(value)));
}

export interface PageRequest {
  limit: number;
  offset: number;
}

/** The page to read. Invalid values were refused before; this only clamps. */
export const clampPage = (
  input: { limit?: number | undefined; offset?: number | undefined },
  bounds: { default: number; min: number; max: number },
): PageRequest => ({
  limit: clamp(input.limit, bounds),
  offset: clamp(input.offset, { default: 0, min: 0, max: MAX_OFFSET }),
});

export interface Paginated<T> {
  items: T[];
  page: PageRequest & { total: number | null; hasMore: boolean };
}

/**
 * The envelope of a page (interface: Shared envelopes). Pass one row more than `limit` if there is one: the surplus row
 * indicates that there are more, and costs less than a count. With a real `total`, that decides instead.
 */
export function pageOf<T>(rows: readonly T[], request: PageRequest, total: number | null = null): Paginated<T> {
  const items = rows.slice(0, request.limit);
  const hasMore = total === null ? rows.length > request.limit : request.offset + items.length < total;
  return { items, page: { total, limit: request.limit, offset: request.offset, hasMore } };
}
