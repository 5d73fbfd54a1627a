import { queryClient } from '@pipeline/web/api/query-client.ts';
import { sendRequest } from '@pipeline/web/api/send-request.ts';
import { request } from './request.ts';
import { ROUTES } from './routes.generated.ts';
import { session, signIns } from './session-state.ts';
import { startFrom } from './stream-position.ts';
import type { Reply } from './types.ts';

let check: Promise<boolean> | null = null;

/**
 * Checks whether this browser may read. Without configured authentication it always may. Concurrent calls share a
 * request.
 * @throws ApiFailure when the monitor does not respond.
 */
export function checkSession(): Promise<boolean> {
  check ??= readSession().finally(() => {
    check = null;
  });
  return check;
}

/**
 * Reads the session. Later reads of the page contain all events up to the position of the response: the stream begins
 * there.
 */
async function readSession(): Promise<boolean> {
  const onHeaders = (headers: Headers): void => startFrom(headers.get('x-stream-position'));
  const { authenticated } = (await sendRequest(ROUTES.getSession, {}, { onHeaders })) as Reply<'getSession'>;
  session.set(authenticated ? 'in' : 'out');
  return authenticated;
}

export type LoginResult = 'signed-in' | 'cookie-refused';

/**
 * Logs in and repeats the reads that failed. Browsers drop a Secure cookie on plain http with a host name, silently:
 * the result is then `cookie-refused`.
 * @throws ApiFailure for wrong credentials and for too many attempts.
 */
export async function logIn(username: string, password: string): Promise<LoginResult> {
  await request('login', { body: { username, password } });
  if (!(await checkSession())) return 'cookie-refused';
  signIns.set(signIns.get() + 1);
  await queryClient.invalidateQueries();
  return 'signed-in';
}

export async function logOut(): Promise<void> {
  await request('logout', {});
  queryClient.clear();
  session.set('out');
}
