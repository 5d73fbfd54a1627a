import type { Sandbox } from '../state/context.ts';
import type { UserRecord } from '../state/model.ts';
import { findUser } from '../state/users.ts';

export const nodeId = (kind: string, id: number): string => Buffer.from(`${kind}:${id}`).toString('base64url');

/** GitHub's `simple-user`. */
export function renderUser(sandbox: Sandbox, login: string) {
  const user = findUser(sandbox, login);
  const url = `${sandbox.url()}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id: user?.id ?? 0,
    node_id: nodeId('User', user?.id ?? 0),
    avatar_url: `${url}/avatar`,
    gravatar_id: '',
    url,
    html_url: `${sandbox.url()}/${encodeURIComponent(login)}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: user?.type ?? 'User',
    user_view_type: 'public',
    site_admin: false,
  };
}

/** GitHub's `private-user`: what somebody sees of themselves. */
export const renderSelf = (sandbox: Sandbox, user: UserRecord) => ({
  ...renderUser(sandbox, user.login),
  user_view_type: 'private',
  name: user.login,
  company: null,
  blog: null,
  location: null,
  email: null,
  hireable: null,
  bio: null,
  twitter_username: null,
  public_repos: 0,
  public_gists: 0,
  followers: 0,
  following: 0,
  created_at: user.createdAt,
  updated_at: user.createdAt,
  private_gists: 0,
  total_private_repos: 0,
  owned_private_repos: 0,
  disk_usage: 0,
  collaborators: 0,
  two_factor_authentication: false,
});
