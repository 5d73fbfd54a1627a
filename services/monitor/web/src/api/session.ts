import { queryClient } from '@pipeline/web/api/query-client.ts';
import { request } from './request.ts';
import { session, signIns } from './session-state.ts';

/** Checks whether this browser may read. Without configured authentication it always may. */
export async function checkSession(): Promise<boolean> {
  const { authenticated } = await request('getSession', {});
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
