import { AppError } from '@pipeline/domain';
import { isTimedOut, isUnavailable } from '../driver/store-errors.ts';
import type { StoreWatch } from './store-watch.ts';

type Call<A extends unknown[], R> = (...args: A) => Promise<R> | R;

/**
 * The call, its broken connections and timeouts reported as STORE_UNAVAILABLE. After a broken connection the watch
 * checks at once, so that others need not find out; one broken connection alone proves nothing about the store.
 */
export const reportingOutages =
  <A extends unknown[], R>(watch: StoreWatch, call: Call<A, R>): ((...args: A) => Promise<R>) =>
  async (...args) => {
    try {
      return await call(...args);
    } catch (error) {
      if (error instanceof AppError || !(isUnavailable(error) || isTimedOut(error))) throw error;
      if (isUnavailable(error)) watch.loop.wake();
      throw new AppError('STORE_UNAVAILABLE', '', { cause: error });
    }
  };

/** The same for all handlers of a surface. */
export function handlersReportingOutages<H extends Readonly<Record<string, unknown>>>(
  watch: StoreWatch,
  handlers: H,
): H {
  const wrapped = Object.entries(handlers).map(([id, handler]) => [
    id,
    reportingOutages(watch, handler as Call<unknown[], unknown>),
  ]);
  return Object.fromEntries(wrapped) as H;
}
