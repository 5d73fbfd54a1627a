import type { StreamEvent } from '@pipeline/store';

/** One message of the stream, made once for all who get it. */
export interface Frame {
  id: number;
  type: StreamEvent['type'];
  tenantId: number;
  /** Repo in lower case; null where the event is about no repo. */
  repo: string | null;
  /** Text as it is sent over the wire. */
  text: string;
  /** A heartbeat of this process alone, while the store is away: it carries the id that its client has already. */
  isRepeat?: true;
}

/** Types of events that report when something happened; the others report the current value. */
const TIMED: readonly StreamEvent['type'][] = ['state-transition', 'cost-update', 'issue-status'];

/** @param uptime of the process that delivers it, in seconds. */
export function frameOf({ id, tenantId, type, data, at }: StreamEvent, uptime: number): Frame {
  const payload =
    type === 'heartbeat' ? { timestamp: at, uptime } : { ...data, ...(TIMED.includes(type) && { timestamp: at }) };
  const repo = typeof data.repo === 'string' ? data.repo.toLowerCase() : null;
  return { id, type, tenantId, repo, text: `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(payload)}\n\n` };
}

/** The text of a repeated heartbeat for a client that has everything up to `after`, here or from another replica. */
export const repeatedFor = ({ id, text }: Frame, after: number): string =>
  text.replace(/^id: \d+/, `id: ${Math.max(id, after)}`);

/** Filter of a client's stream; null = everything. Heartbeats pass every filter, for they keep the connection open. */
export interface StreamFilter {
  repo: { tenantId: number; slug: string } | null;
  types: readonly string[] | null;
}

export const passes = ({ repo, types }: StreamFilter, frame: Frame): boolean =>
  frame.type === 'heartbeat' ||
  ((repo === null || (frame.repo === repo.slug && frame.tenantId === repo.tenantId)) &&
    (types === null || types.includes(frame.type)));

/** Equal for filters that let the same frames pass. */
export const keyOf = ({ repo, types }: StreamFilter): string =>
  JSON.stringify([repo && [repo.tenantId, repo.slug], types && [...new Set(types)].sort()]);
