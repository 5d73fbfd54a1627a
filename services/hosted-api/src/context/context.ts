import { hostname } from 'node:os';
import {
  claim,
  type Engine,
  type IssuerOf,
  loginAudit,
  OpenAiEmbedder,
  recordReload,
  returnClaim,
} from '@pipeline/engine';
import type { Authenticate, RateLimiter } from '@pipeline/http';
import { type Logger, type Metrics, type Periodic, registerReadGauge } from '@pipeline/runtime';
import { drainingWorkers, type Notifications, reportingOutages, type Store, StoreWatch } from '@pipeline/store';
import type { SessionIdentity } from '../accounts/browser-sessions.ts';
import type { IdentityProvider } from '../accounts/providers/identity-provider.ts';
import { identityProviders, type ProviderOptions } from '../accounts/providers/identity-providers.ts';
import { type ConnectionIdentity, connectionAuthenticator } from '../auth/connection-tokens.ts';
import { type PublicAddress, publicAddress } from '../auth/public-address.ts';
import { createRequestLimits, type RequestLimitOptions, type RequestLimits } from '../auth/request-limits.ts';
import { sharedRateLimiter } from '../auth/shared-rate-limit.ts';
import { type WorkerIdentity, workerAuthenticator } from '../auth/worker-tokens.ts';
import { createOauth, type Oauth, type OauthOptions } from '../oauth/oauth.ts';
import { oauthPruning } from '../oauth/prune.ts';
import { ClaimWaiters } from '../queue/long-poll/claim-waiters.ts';
import { queueHealing } from '../queue/queue-healing.ts';
import { SettingsFollower } from '../settings/settings-follower.ts';
import { ChangeStreams } from '../stream/change-streams.ts';
import type { ReadContext } from './reads.ts';
import type { StoreDetails } from './store-details.ts';

export interface HostedOptions {
  store: Store;
  /** Pool of the loops. */
  loopStore: Store;
  notifications: Notifications;
  log: Logger;
  metrics: Metrics;
  now: () => Date;
  random: () => number;
  /** Address at which this API is reached from outside: scheme, host and port. */
  publicUrl: string;
  /** Public address of the monitor; undefined = not published. */
  monitorUrl: string | undefined;
  /** Published to connections; undefined = not published. */
  storeDetails: StoreDetails | undefined;
  oauth: OauthOptions;
  /** Services that log users in; undefined = passwords only. */
  identityProviders?: ProviderOptions | undefined;
  /** Proxies in front whose word about the caller's address is believed. */
  trustedProxies: number;
  /** Undefined: every delivery is refused. */
  webhookSecret: string | undefined;
  limits: RequestLimitOptions;
  /** Variables with the key of the embedding endpoint, by the name that the configuration gives. */
  variables?: Readonly<Record<string, string | undefined>> | undefined;
  /** Returns the issuer of git credentials for workers. */
  issuerOf: IssuerOf;
  /** Folder of the built pages for customers. Undefined or not there: the start page alone. */
  webDir?: string | undefined;
  /** Pause of the slow poll of claims that wait; default 1.5 s. */
  claimPollMs?: number | undefined;
}

/** Context of the routes of the hosted API. */
export interface HostedContext
  extends ReadContext,
    Pick<HostedOptions, 'metrics' | 'webhookSecret' | 'trustedProxies' | 'issuerOf' | 'webDir'> {
  limits: RequestLimits;
  waiters: ClaimWaiters;
  /** Change streams of the customers' pages. */
  changes: ChangeStreams;
  address: PublicAddress;
  oauth: Oauth;
  providers: readonly IdentityProvider[];
  /** Logins by providers that an address begins. */
  providerLogins: RateLimiter;
  authenticateWorker: Authenticate<WorkerIdentity>;
  authenticateConnection: Authenticate<ConnectionIdentity>;
  authenticateSession: Authenticate<SessionIdentity>;
  settings: SettingsFollower;
  /** Started by main, ticked by hand in tests. */
  loops: readonly Periodic[];
}

/** Wires the parts. Nothing is started and no statement is sent. */
export function createHostedContext(options: HostedOptions): HostedContext {
  const { store, loopStore, notifications, random, now } = options;
  const log = options.log;
  const metrics = options.metrics.loops;
  const storeWatch = new StoreWatch({ store: loopStore, log, metrics });
  const settings = new SettingsFollower({
    store: loopStore,
    log,
    metrics,
    now,
    record: (outcome) => recordReload(engine, { agentName: 'hosted-api', instance: hostname(), outcome }, null),
  });
  const engine: Engine = {
    store,
    notify: (bell, tenantId) => notifications.notify(bell, [tenantId]),
    settings: () => settings.current,
    random,
    embedder: new OpenAiEmbedder({ variables: options.variables ?? {}, now }),
  };
  const waiters = new ClaimWaiters({
    claim: reportingOutages(storeWatch, (request) => claim(engine, request)),
    returnClaim: (tenantId, { id, claimToken }) => returnClaim(engine, { tenantId, taskId: id, claimToken }),
    draining: reportingOutages(storeWatch, (tenantId, workerIds) => drainingWorkers(store.db, tenantId, workerIds)),
    pollMs: options.claimPollMs,
    log,
    metrics,
  });
  if (store.isReplicaUsed !== null) registerReplicaGauge(options.metrics.registry, store);
  const changes = new ChangeStreams({ log, metrics });
  const address = publicAddress(options.publicUrl);
  const providerOptions = options.identityProviders ?? { limit: 0 };
  const storeReady = () => storeWatch.isConnected;
  const oauth = createOauth(
    { store, address, log, onLoginFailure: loginAudit({ store, service: 'hosted-api', storeReady, log, now }) },
    options.oauth,
  );
  return {
    ...options,
    limits: createRequestLimits(options.limits),
    engine,
    waiters,
    changes,
    address,
    authenticateWorker: reportingOutages(storeWatch, workerAuthenticator(store, now)),
    authenticateConnection: reportingOutages(storeWatch, connectionAuthenticator(store, address)),
    authenticateSession: reportingOutages(storeWatch, oauth.sessions.authenticate),
    oauth,
    providers: identityProviders(providerOptions, address),
    providerLogins: sharedRateLimiter(store.db, {
      name: 'provider login',
      limit: providerOptions.limit,
      windowSeconds: 300,
    }),
    storeWatch,
    settings,
    loops: [
      storeWatch.loop,
      settings.loop,
      changes.loop,
      queueHealing({ ...engine, store: loopStore }, { storeReady, log, metrics }),
      oauthPruning(loopStore, { storeReady, log, metrics }),
    ],
  };
}

function registerReplicaGauge(registry: Metrics['registry'], store: Store): void {
  const help = '1 while reads use the replica, 0 while it refuses connections and they use the primary.';
  registerReadGauge(registry, 'svc_replica_used', help, () => (store.isReplicaUsed ? 1 : 0));
}
