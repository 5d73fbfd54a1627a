import { mustEqual } from './outcome.ts';
import type { Probe } from './probe.ts';

/** A page of a list. */
export interface Page {
  items: unknown[];
  page: { total: number | null; limit: number; offset: number; hasMore: boolean };
}

/** Adds parameters to an address template. */
export const withQuery = (template: string, query: string): string =>
  `${template}${template.includes('?') ? '&' : '?'}${query}`;

/** @throws CheckFailed when the status is not 200. */
export async function pageOf(probe: Probe, template: string, query: string): Promise<Page> {
  const answer = await probe.send(withQuery(template, query));
  mustEqual(`status of ${query}`, answer.status, 200);
  return answer.json<Page>();
}

/** Returns what identifies an item; log entries have no id. */
export function keyOf(item: unknown): unknown {
  const { id, repo, issueNumber, number, taskId, sequence, invocationIndex, timestamp, msg } = item as Record<
    string,
    unknown
  >;
  return id ?? [repo, issueNumber ?? number, taskId, invocationIndex, sequence, timestamp, msg];
}
