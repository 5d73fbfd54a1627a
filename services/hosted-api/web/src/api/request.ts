import { isFailure } from '@pipeline/web/api/failure.ts';
import { type LooseInput, sendRequest } from '@pipeline/web/api/send-request.ts';
import { queryOptions } from '@tanstack/react-query';
import { ROUTES } from './routes.generated.ts';
import type { Input, Reply, RouteId } from './types.ts';

/** The login, which leads back here. */
const LOGIN = '/account/login?return_to=%2F';

async function send<Id extends RouteId>(
  id: Id,
  input: Input<Id>,
  options: Parameters<typeof sendRequest>[2],
): Promise<Reply<Id>> {
  try {
    return (await sendRequest(ROUTES[id], input as LooseInput, options)) as Reply<Id>;
  } catch (error) {
    if (isFailure(error) && error.status === 401) window.location.assign(LOGIN);
    throw error;
  }
}

/** Calls a GET route. @throws ApiFailure; AbortError after `signal`. */
export const request = <Id extends RouteId>(id: Id, input: Input<Id>, signal: AbortSignal): Promise<Reply<Id>> =>
  send(id, input, { signal });

/** Query options of a GET route. @param pollMs what changes by itself is read again after this time. */
export const read = <Id extends RouteId>(id: Id, input: Input<Id>, pollMs?: () => number) =>
  queryOptions<Reply<Id>, Error, Reply<Id>, readonly unknown[]>({
    queryKey: [id, input],
    queryFn: ({ signal }) => request(id, input, signal),
    ...(pollMs !== undefined && { refetchInterval: pollMs }),
  });

/** Sends a change, with the form token of the session. @throws ApiFailure. */
export const change = <Id extends RouteId>(id: Id, input: Input<Id>, formToken: string): Promise<Reply<Id>> =>
  send(id, input, { headers: { 'x-form-token': formToken } });
