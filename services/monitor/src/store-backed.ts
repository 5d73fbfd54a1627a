import type { StoreStatus } from './store-status.ts';

type LooseHandler = (input: unknown) => unknown;

/** The same handlers, with an outage of the store during a call answered as 503 STORE_UNAVAILABLE. */
export function storeBacked<H extends object>(handlers: H, status: StoreStatus | null): H {
  const guarded = Object.entries(handlers as Record<string, LooseHandler>).map(([id, handler]) => [
    id,
    async (input: unknown) => {
      try {
        return await handler(input);
      } catch (error) {
        throw status?.explain(error) ?? error;
      }
    },
  ]);
  return Object.fromEntries(guarded) as H;
}
