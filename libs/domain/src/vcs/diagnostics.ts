import type { RepoRef } from './host.ts';

/** Reads the set-up of a repository and of the credentials on a host, for diagnosis only. Each call throws HostError. */
export interface HostDiagnostics {
  /** Identity of the credentials, and the host's time of the response; null = the host rejects the credentials. */
  identity(): Promise<HostIdentity | null>;
  /** The app's installation on a repo; null for a token of a user. */
  installation(repo: RepoRef): Promise<AppInstallation | null>;
  /** The webhooks that cover a repo: those of the app, or those of the repo. */
  webhooks(repo: RepoRef): Promise<HostWebhook[]>;
  /** Names of the labels of a repo. */
  labels(repo: RepoRef): Promise<string[]>;
}

export interface HostIdentity {
  kind: 'app' | 'token';
  login: string;
  /** The host's time of the response, ISO 8601, in whole seconds; null = it sent none. */
  at: string | null;
}

export interface AppInstallation {
  state: 'active' | 'suspended' | 'missing';
  /** Level by name of the permission. */
  permissions: Readonly<Record<string, string>>;
}

export interface HostWebhook {
  /** Scheme, host and path: a query or a password in an address may be secret. */
  url: string;
  active: boolean;
  /** Subscribed events; `*` = all. */
  events: string[];
  /** HTTP status of the last delivery; 0 = no response, null = nothing was delivered yet. */
  lastStatus: number | null;
}
