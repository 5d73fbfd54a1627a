/** An app that acts for repos of those who installed it. */
export interface AppRecord {
  id: number;
  slug: string;
  /** Empty while the code of an app from a manifest has not been converted. */
  publicKey: string;
  /** Absent = the slug. */
  name?: string;
  /** The account that registered it and alone can install it; absent = it was added by a setting. */
  owner?: string;
  /** Webhook events that it subscribes to. */
  events?: string[];
  homepage?: string;
  /** Rights of the app where it is installed; absent = the defaults. */
  permissions?: Permissions;
  createdAt: string;
}

export interface InstallationRecord {
  id: number;
  appId: number;
  owner: string;
  /** Repositories of the owner that it was installed on; null and absent = all. */
  repoIds?: number[] | null;
  createdAt: string;
  /** Absent = it is active. */
  suspendedAt?: string | undefined;
}

/** A code that can be exchanged once for the secrets of an app that was made from a manifest. */
export type ConversionRecord = { id: number; codeHash: string; appId: number; createdAt: string };

/** A program that learns who a person is. */
export type OauthAppRecord = { id: number; name: string; clientId: string; secretHash: string; callbackUrl: string };

/** A code that an OAuth app exchanges once for a token; `challenge` = PKCE, S256. */
export interface OauthCodeRecord {
  id: number;
  codeHash: string;
  appId: number;
  login: string;
  redirectUri: string;
  challenge: string | null;
  createdAt: string;
}
export type OauthTokenRecord = Pick<OauthCodeRecord, 'id' | 'login'> & { tokenHash: string };

export type Permission =
  | 'actions'
  | 'administration'
  | 'checks'
  | 'contents'
  | 'issues'
  | 'metadata'
  | 'pull_requests'
  | 'statuses'
  | 'workflows';
export type Permissions = Partial<Record<Permission, 'read' | 'write'>>;

/** Rights of a token of an installation. */
export interface Grant {
  id: number;
  appId: number;
  owner: string;
  tokenHash: string;
  /** null = every repo of the owner. */
  repoIds: number[] | null;
  permissions: Permissions;
  expiresAt: string;
}
