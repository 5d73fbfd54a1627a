import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { AppError, withoutTrailing } from '@pipeline/domain';
import { makePrivateFile, makePrivateFolder } from '@pipeline/runtime';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { loadRepo, movedRepos, refuseApps, requireViewer } from './apps/auth.ts';
import { addApp, type NewApp } from './apps/grants.ts';
import { installRoutes } from './apps/install-routes.ts';
import { manifestRoutes } from './apps/manifest-routes.ts';
import { addOauthApp, type NewOauthApp } from './apps/oauth-apps.ts';
import { oauthRoutes } from './apps/oauth-routes.ts';
import { appRoutes } from './apps/routes.ts';
import { Ci } from './checks/ci.ts';
import { checkRoutes, jobLog } from './checks/routes.ts';
import { adminRoutes } from './control/routes.ts';
import { Git } from './git/git.ts';
import { createLock } from './git/lock.ts';
import { graphqlRoutes } from './graphql/routes.ts';
import { Failure } from './http/failure.ts';
import { type Fault, Faults } from './http/faults.ts';
import { reposById } from './http/redirects.ts';
import { RequestLog } from './http/request-log.ts';
import { commentRoutes } from './issues/comments.ts';
import { labelRoutes } from './issues/labels.ts';
import { issueRoutes } from './issues/routes.ts';
import { subIssueRoutes } from './issues/sub-issues.ts';
import { createRateLimit } from './limits/rate-limit.ts';
import { pageRoutes } from './pages/pages.ts';
import { branchRoutes } from './protection/routes.ts';
import { mergeRoutes, tryMerge } from './pulls/merge.ts';
import { settleMerges } from './pulls/merge-record.ts';
import { reviewRoutes } from './pulls/reviews.ts';
import { pullRoutes } from './pulls/routes.ts';
import { updateBranchRoutes } from './pulls/update-branch.ts';
import { smartHttp } from './pushes/smart-http.ts';
import { MergeQueue } from './queue/merge-queue.ts';
import { activityRoutes } from './repos/activity.ts';
import { addHook, addRepo, addUser, type NewHook, type NewRepo, type NewUser } from './repos/admin.ts';
import { compareRoutes } from './repos/compare.ts';
import { forkRoutes } from './repos/fork-routes.ts';
import { refRoutes } from './repos/refs.ts';
import { repoRoutes, viewerRoutes } from './repos/routes.ts';
import { syncPulls } from './repos/sync-pulls.ts';
import { GLOBAL, type Sandbox, type SandboxLog } from './state/model.ts';
import { State } from './state/state.ts';
import { Deliveries } from './webhooks/deliveries.ts';
import { appHookRoutes, repoHookRoutes } from './webhooks/routes.ts';

export interface SandboxOptions {
  /** Holds everything; a second start on it goes on with the same data. */
  dataDir: string;
  /** 0 = any free port, the default. */
  port?: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Address of the monitor, to which the pages of issues link; without it they have no such link. */
  monitorUrl?: string;
  /** Root of the links in answers, where it differs from the address that is listened on. */
  publicUrl?: string;
  users?: NewUser[];
  repos?: NewRepo[];
  apps?: NewApp[];
  oauthApps?: NewOauthApp[];
  webhooks?: NewHook[];
  /** false: webhooks wait for `flushWebhooks()`. */
  autoDeliver?: boolean;
  /** Pauses before a webhook's further attempts, in ms. */
  retryDelaysMs?: number[];
  rateLimitPerHour?: number;
  /** Writes a minute and token, the secondary limit of the host; beyond it 403 with `Retry-After`. */
  writesPerMinute?: number;
  /** The lowest id on a new host; hosts whose data meet in one database need different ones. */
  firstId?: number;
  /** Needed as bearer token by the admin API; without it the admin API is open. */
  adminToken?: string;
  now?: () => Date;
  fetch?: typeof fetch;
  log?: SandboxLog;
  /** Value of PATH with which `git` is found. */
  searchPath?: string;
}

/** A running sandbox host. */
export interface SandboxHost {
  /** Base address of the API, of `<url>/<owner>/<name>.git` and of the pages. */
  url: string;
  addRepo(repo: NewRepo): Promise<void>;
  addUser(user: NewUser): void;
  /** Adds an app, or installs a known one on accounts where it is not installed. */
  addApp(app: NewApp): void;
  /** Adds an OAuth app, or gives a known one new settings. */
  addOauthApp(app: NewOauthApp): void;
  addWebhook(hook: NewHook): void;
  failNext(fault: Fault): void;
  requests: RequestLog;
  flushWebhooks(): Promise<void>;
  /** Ends every connection and settles when the data is closed. */
  stop(): Promise<void>;
}

const SPARE_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Names in the data folder of a sandbox. */
const OWN = /^(git|gitconfig|sandbox\.db.*)$/;

/**
 * Starts the sandbox host: the part of GitHub's REST API that the pipeline uses, with a real git repository per repo.
 * @throws Error when the port is taken or another process works on the data directory.
 */
export async function startSandbox(options: SandboxOptions): Promise<SandboxHost> {
  const { now = () => new Date(), log = { info() {}, warn() {} } } = options;
  makePrivateFolder(options.dataDir, (name) => OWN.test(name));
  const file = path.join(options.dataDir, 'sandbox.db');
  makePrivateFile(file);
  const state = new State(file, options.firstId);
  const { autoDeliver = true, retryDelaysMs = [500, 2000, 5000], fetch: send = fetch } = options;
  const deliveries = new Deliveries({ state, fetch: send, now, log, autoDeliver, retryDelaysMs });
  const server = createServer();
  const ci = new Ci(() => sandbox);
  const queue = new MergeQueue(() => sandbox, tryMerge);
  const sandbox: Sandbox = {
    state,
    git: new Git(options.dataDir, options.searchPath ?? SPARE_PATH),
    now,
    url: () => (options.publicUrl === undefined ? addressOf(server) : withoutTrailing(options.publicUrl, '/')),
    deliveries,
    ci,
    queue,
    log,
    rateLimitPerHour: options.rateLimitPerHour ?? 1_000_000,
    writesPerMinute: options.writesPerMinute ?? 1_000_000,
    lock: createLock(),
  };
  try {
    await listen(server, options);
    await recover(sandbox);
    await seed(sandbox, options);
  } catch (error) {
    server.close();
    state.close();
    throw error;
  }
  const faults = new Faults();
  const requests = new RequestLog(now);
  const { adminToken = null, monitorUrl } = options;
  server.on('request', createApp(sandbox, { faults, requests, adminToken, monitorUrl }));
  deliveries.kick();
  for (const repo of state.list('repo', GLOBAL)) {
    ci.consider(repo);
    queue.consider(repo);
  }
  return {
    url: sandbox.url(),
    addRepo: async (repo) => void (await addRepo(sandbox, repo)),
    addUser: (user) => void addUser(sandbox, user),
    addApp: (app) => void addApp(sandbox, app),
    addOauthApp: (app) => void addOauthApp(sandbox, app),
    addWebhook: (hook) => void addHook(sandbox, hook),
    failNext: (fault) => faults.add(fault),
    requests,
    flushWebhooks: () => deliveries.flush(),
    stop: () => stop({ state, deliveries, ci, queue }, server),
  };
}

async function listen(server: Server, { port = 0, host = '127.0.0.1' }: SandboxOptions): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

function addressOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Settles what a kill may have left between git and the records. */
async function recover(sandbox: Sandbox): Promise<void> {
  await settleMerges(sandbox);
  for (const repo of sandbox.state.list('repo', GLOBAL)) await syncPulls(sandbox, repo, repo.owner);
}

async function seed(
  sandbox: Sandbox,
  { users = [], repos = [], apps = [], oauthApps = [], webhooks = [] }: SandboxOptions,
): Promise<void> {
  for (const user of users) addUser(sandbox, user);
  for (const repo of repos) await addRepo(sandbox, repo);
  for (const app of apps) addApp(sandbox, app);
  for (const app of oauthApps) addOauthApp(sandbox, app);
  for (const hook of webhooks) addHook(sandbox, hook);
}

interface Parts {
  state: State;
  deliveries: Deliveries;
  ci: Ci;
  queue: MergeQueue;
}

async function stop({ state, deliveries, ci, queue }: Parts, server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  // Webhooks first: one may be waiting for an answer that comes over our own connections.
  await Promise.all([deliveries.stop(), ci.stop(), queue.stop()]);
  server.closeAllConnections();
  await closed;
  state.close();
}

interface AppOptions {
  faults: Faults;
  requests: RequestLog;
  adminToken: string | null;
  monitorUrl: string | undefined;
}

/** The sandbox host's HTTP face. Order: count, faults, git, admin, then the API behind its token, pages last. */
function createApp(sandbox: Sandbox, options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  // GitHub Enterprise Server has its API below these paths.
  app.use((req, _res, next) => {
    req.url = req.url.replace(/^\/api(?:\/v3(?=\/)|(?=\/graphql$))/, '');
    next();
  });
  // Clients log this id with each answer, and people quote it to the host's support.
  app.use((_req, res, next) => {
    res.set('X-GitHub-Request-Id', randomUUID());
    next();
  });
  app.use(reposById(sandbox));
  app.use(options.requests.middleware());
  app.use(options.faults.middleware());
  app.use(smartHttp(sandbox));
  app.use('/_sandbox', adminRoutes(sandbox, options));

  // fetch() sends `no-cache` beside every If-None-Match; the real host answers 304 all the same.
  app.use((req, _res, next) => {
    delete req.headers['cache-control'];
    next();
  });
  // An app speaks with an assertion of its own, so before the check of tokens.
  app.use(appRoutes(sandbox), manifestRoutes(sandbox), installRoutes(sandbox), appHookRoutes(sandbox));
  app.use(oauthRoutes(sandbox));
  const limit = createRateLimit(sandbox);
  const viewer = requireViewer(sandbox);
  const json = express.json({ limit: '10mb', type: () => true });
  app.use(['/rate_limit', '/user', '/users', '/graphql', '/repos', '/repositories'], viewer, json);
  app.use('/user', refuseApps);
  app.use(limit.route);
  app.use(['/user', '/users', '/graphql', '/repos', '/repositories'], limit.middleware);
  app.use(viewerRoutes(sandbox), graphqlRoutes(sandbox));
  const parts = [
    issueRoutes,
    labelRoutes,
    commentRoutes,
    subIssueRoutes,
    pullRoutes,
    reviewRoutes,
    mergeRoutes,
    updateBranchRoutes,
    repoHookRoutes,
  ];
  const routers = [
    repoRoutes,
    activityRoutes,
    compareRoutes,
    branchRoutes,
    forkRoutes,
    refRoutes,
    checkRoutes,
    ...parts,
  ].map((routes) => routes(sandbox));
  app.use('/repos/:owner/:repo', movedRepos(sandbox), loadRepo(sandbox), ...routers);
  app.use(['/user', '/users', '/graphql', '/repos', '/repositories'], () => {
    throw new Failure(404, 'Not Found');
  });

  app.get('/_logs/:owner/:repo/:id', jobLog(sandbox));
  app.use(pageRoutes(sandbox, options.monitorUrl));
  app.use(() => {
    throw new Failure(404, 'Not Found');
  });
  app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
    if (res.headersSent) return next(error);
    const failure = toFailure(sandbox, error);
    res.status(failure.status).set(failure.headers).json(failure.body());
  });
  return app;
}

function toFailure({ log }: Sandbox, error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof AppError) return new Failure(422, error.message);
  // The JSON parser's errors carry the status that they stand for.
  if (error instanceof SyntaxError) return new Failure(400, 'Problems parsing JSON');
  if (error instanceof Error && 'status' in error && Number(error.status) < 500) {
    return new Failure(Number(error.status), error.message);
  }
  log.warn(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return new Failure(500, 'Server Error');
}
