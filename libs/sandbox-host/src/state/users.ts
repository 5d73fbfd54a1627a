import type { Sandbox } from './context.ts';
import { timestamp } from './context.ts';
import type { UserRecord } from './model.ts';
import { GLOBAL } from './state.ts';

export function findUser({ state }: Sandbox, login: string): UserRecord | undefined {
  const wanted = login.toLowerCase();
  return state.list('user', GLOBAL).find((user) => user.login.toLowerCase() === wanted);
}

export const userByToken = ({ state }: Sandbox, token: string): UserRecord | undefined =>
  token === '' ? undefined : state.list('user', GLOBAL).find((user) => user.token === token);

/** Adds the user or changes its token; a user without a token (the owner of a repo, say) cannot sign in. */
export function putUser(
  sandbox: Sandbox,
  user: { login: string; token?: string; type?: UserRecord['type'] },
): UserRecord {
  const { state } = sandbox;
  const known = findUser(sandbox, user.login);
  const record: UserRecord = {
    id: known?.id ?? state.nextId(),
    login: known?.login ?? user.login,
    token: user.token ?? known?.token ?? '',
    type: user.type ?? known?.type ?? 'User',
    createdAt: known?.createdAt ?? timestamp(sandbox),
  };
  state.put('user', GLOBAL, record);
  return record;
}
