import { AppError } from '@pipeline/domain';
import { isUnavailable } from '@pipeline/store';

type Call<A extends unknown[], R> = (...args: A) => Promise<R> | R;

/** The call, its broken connections told as STORE_UNAVAILABLE. `lost` hears of each, so that others need not find out. */
export const tellingStoreErrors =
  <A extends unknown[], R>(call: Call<A, R>, lost: () => void): ((...args: A) => Promise<R>) =>
  async (...args) => {
    try {
      return await call(...args);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      lost();
      throw new AppError('STORE_UNAVAILABLE', '', { cause: error });
    }
  };

/** The same for all handlers of a surface. */
export function handlersTellingStoreErrors<H extends Readonly<Record<string, unknown>>>(
  handlers: H,
  lost: () => void,
): H {
  const told = Object.entries(handlers).map(([id, handler]) => [
    id,
    tellingStoreErrors(handler as Call<unknown[], unknown>, lost),
  ]);
  return Object.fromEntries(told) as H;
}
