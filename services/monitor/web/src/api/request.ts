import { isFailure } from '@pipeline/web/api/failure.ts';
import { type LooseInput, sendRequest } from '@pipeline/web/api/send-request.ts';
import { ROUTES } from './routes.generated.ts';
import { sessionExpired } from './session-state.ts';
import type { Input, Reply, RouteId } from './types.ts';

export type CallableId = RouteId & keyof typeof ROUTES;

/**
 * Calls a route of the monitor.
 * @returns the body of the response.
 * @throws ApiFailure for an error response and for no response; AbortError after `signal`.
 */
export async function request<Id extends CallableId>(
  id: Id,
  input: Input<Id>,
  signal?: AbortSignal,
): Promise<Reply<Id>> {
  try {
    return (await sendRequest(ROUTES[id], input as LooseInput, { signal })) as Reply<Id>;
  } catch (error) {
    if (isFailure(error) && error.status === 401 && id !== 'login') sessionExpired();
    throw error;
  }
}
