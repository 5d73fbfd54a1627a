import { AppError } from '@pipeline/domain';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { loadRepo, refuseApps, requireViewer } from './auth/auth.ts';
import { Failure } from './http/failure.ts';
import type { Faults } from './http/faults.ts';
import { createRateLimit } from './http/rate-limit.ts';
import type { RequestLog } from './http/request-log.ts';
import { adminRoutes } from './routes/admin.ts';
import { appRoutes } from './routes/apps.ts';
import { branchRoutes } from './routes/branches.ts';
import { commentRoutes } from './routes/comments.ts';
import { commitRoutes } from './routes/commits.ts';
import { forkRoutes } from './routes/forks.ts';
import { graphqlRoutes } from './routes/graphql.ts';
import { issueRoutes } from './routes/issues.ts';
import { labelRoutes } from './routes/labels.ts';
import { mergeRoutes } from './routes/merge.ts';
import { pageRoutes } from './routes/pages.ts';
import { pullRoutes } from './routes/pulls.ts';
import { refRoutes } from './routes/refs.ts';
import { repoRoutes, viewerRoutes } from './routes/repos.ts';
import { reviewRoutes } from './routes/reviews.ts';
import { smartHttp } from './routes/smart-http.ts';
import { subIssueRoutes } from './routes/sub-issues.ts';
import type { Sandbox } from './state/context.ts';

interface AppOptions {
  faults: Faults;
  requests: RequestLog;
  adminToken: string | null;
}

/** The sandbox host's HTTP face. Order: count, faults, git, admin, then the API behind its token, pages last. */
export function createApp(sandbox: Sandbox, options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
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
  app.use(appRoutes(sandbox));
  const limit = createRateLimit(sandbox);
  const viewer = requireViewer(sandbox);
  const json = express.json({ limit: '10mb', type: () => true });
  app.use(['/rate_limit', '/user', '/users', '/graphql', '/repos'], viewer, json);
  app.use(['/user', '/graphql'], refuseApps);
  app.use(limit.route);
  app.use(['/user', '/users', '/graphql', '/repos'], limit.middleware);
  app.use(viewerRoutes(sandbox), graphqlRoutes(sandbox));
  const parts = [issueRoutes, labelRoutes, commentRoutes, subIssueRoutes, pullRoutes, reviewRoutes, mergeRoutes];
  const routers = [repoRoutes, branchRoutes, forkRoutes, refRoutes, commitRoutes, ...parts].map((routes) =>
    routes(sandbox),
  );
  app.use('/repos/:owner/:repo', loadRepo(sandbox), ...routers);
  app.use(['/user', '/users', '/graphql', '/repos'], () => {
    throw new Failure(404, 'Not Found');
  });

  app.use(pageRoutes(sandbox));
  app.use(() => {
    throw new Failure(404, 'Not Found');
  });
  app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
    if (res.headersSent) return next(error);
    const failure = toFailure(sandbox, error);
    res.status(failure.status).json(failure.body());
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
