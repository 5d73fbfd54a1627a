import { queryClient } from '@pipeline/web/api/query-client.ts';
import { createSignal } from '@pipeline/web/shared/signal.ts';
import { after, atMostEvery } from '@pipeline/web/timing/timers.ts';
import type { Query } from '@tanstack/react-query';
import { ROUTES } from '../api/routes.generated.ts';
import type { RouteId } from '../api/types.ts';

/** Minimum time between two reads of what is on the page. */
const REREAD_MS = 3_000;
/** A hidden page gives its stream up after this time: browsers allow six connections to a host, for all pages. */
const HIDDEN_MS = 10_000;

/** True while the stream of changes is open. */
export const isLive = createSignal(false);

/** Routes whose data agents, the host and the clock change; the others are changed by people on these pages. */
const CHANGING: readonly unknown[] = [
  'browserOverview',
  'browserIssues',
  'browserIssue',
  'browserTimeline',
  'browserCosts',
] satisfies RouteId[];

const rereadOlderThan = (time: number): void =>
  void queryClient.invalidateQueries({
    predicate: ({ queryKey, state }) => CHANGING.includes(queryKey[0]) && state.dataUpdatedAt < time,
  });

/** A first read that was sent before the change is not repeated by that: it is read again after it. */
const isFirstRead = ({ queryKey, state }: Query): boolean =>
  CHANGING.includes(queryKey[0]) && state.data === undefined && state.fetchStatus === 'fetching';

const reread: () => void = atMostEvery(REREAD_MS, () => {
  const isEarly = queryClient.getQueryCache().findAll({ predicate: isFirstRead }).length > 0;
  rereadOlderThan(Number.POSITIVE_INFINITY);
  if (isEarly) reread();
});

/**
 * Reads what the page shows again whenever something in the organisation has changed, while the page is visible.
 * @returns a function that ends it.
 */
export function followChanges(org: string): () => void {
  let source: EventSource | null = null;
  let cancel: (() => void) | null = null;
  const open = (): void => {
    if (source !== null && source.readyState !== EventSource.CLOSED) return;
    source = new EventSource(`${ROUTES.browserChanges[1]}?org=${encodeURIComponent(org)}`);
    source.onopen = () => {
      isLive.set(true);
      rereadOlderThan(Date.now()); // changes before the stream was open were not reported
    };
    // The browser connects again by itself, except after an error response; then the pages poll.
    source.onerror = () => isLive.set(false);
    source.addEventListener('changed', reread);
  };
  const close = (): void => {
    source?.close();
    source = null;
    isLive.set(false);
  };
  const onVisibility = (): void => {
    cancel?.();
    cancel = document.hidden ? after(HIDDEN_MS, close) : null;
    if (!document.hidden) open();
  };
  document.addEventListener('visibilitychange', onVisibility);
  onVisibility();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    cancel?.();
    close();
  };
}
