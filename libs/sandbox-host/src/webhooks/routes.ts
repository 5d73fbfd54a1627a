import { type Request, type Response, Router } from 'express';
import { requireRole } from '../access/roles.ts';
import { appOf } from '../apps/grants.ts';
import { notFound } from '../http/failure.ts';
import { paginate, repoOf, viewerOf } from '../http/request.ts';
import { apiUrl } from '../render/basics.ts';
import { type DeliveryRecord, GLOBAL, type HookRecord, type RepoRecord, type Sandbox } from '../state/model.ts';

/**
 * Webhooks as the administrators of a repository see them: those of apps are not listed. Every hook of the sandbox covers
 * every repository.
 */
export function repoHookRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });
  router.get('/hooks', (req, res) => {
    const repo = repoOf(res);
    requireRole(repo, viewerOf(res).login, 'admin');
    const hooks = sandbox.state.list('hook', GLOBAL).filter(({ appId }) => appId === undefined);
    res.json(
      paginate(
        sandbox,
        req,
        res,
        hooks.map((hook) => renderHook(sandbox, repo, hook)),
      ),
    );
  });
  return router;
}

/** The webhook of an app and its deliveries, newest first. */
export function appHookRoutes(sandbox: Sandbox): Router {
  const router = Router();
  const { state } = sandbox;
  const hookOf = async (req: Request): Promise<HookRecord> => {
    const app = await appOf(sandbox, req.headers.authorization);
    const hooks = state.list('hook', GLOBAL);
    // Apps that were added by setting share the hook of the sandbox.
    const hook = hooks.find(({ appId }) => appId === app.id) ?? hooks.find(({ appId }) => appId === undefined);
    if (!hook) throw notFound();
    return hook;
  };
  router.get('/app/hook/config', async (req, res) => {
    res.json(renderConfig(await hookOf(req)));
  });
  router.get('/app/hook/deliveries', async (req: Request, res: Response) => {
    const { id } = await hookOf(req);
    const all = state.list('delivery', GLOBAL).filter(({ hookId, status }) => hookId === id && status !== 'pending');
    res.json(paginate(sandbox, req, res, all.reverse().map(renderDelivery)));
  });
  return router;
}

const renderConfig = ({ url }: HookRecord) => ({ url, content_type: 'json', insecure_ssl: '0', secret: '********' });

function renderHook(sandbox: Sandbox, repo: RepoRecord, hook: HookRecord) {
  const url = `${apiUrl(sandbox, repo)}/hooks/${hook.id}`;
  const last = sandbox.state
    .list('delivery', GLOBAL)
    .findLast(({ hookId, status }) => hookId === hook.id && status !== 'pending');
  return {
    type: 'Repository',
    id: hook.id,
    name: 'web',
    active: true,
    events: ['*'],
    config: renderConfig(hook),
    url,
    test_url: `${url}/test`,
    ping_url: `${url}/pings`,
    deliveries_url: `${url}/deliveries`,
    created_at: repo.createdAt,
    updated_at: repo.createdAt,
    last_response: last
      ? { code: statusCodeOf(last), status: last.status === 'delivered' ? 'active' : 'failed', message: last.outcome }
      : { code: null, status: 'unused', message: null },
  };
}

const renderDelivery = (delivery: DeliveryRecord) => ({
  id: delivery.id,
  guid: delivery.guid,
  delivered_at: delivery.createdAt,
  redelivery: false,
  duration: 0,
  status: delivery.status === 'delivered' ? 'OK' : (delivery.outcome ?? ''),
  status_code: statusCodeOf(delivery),
  event: delivery.event,
  action: null,
  installation_id: null,
  repository_id: null,
});

/** 0 = there was no response. */
const statusCodeOf = ({ outcome }: DeliveryRecord): number => (/^\d{3}$/.test(outcome ?? '') ? Number(outcome) : 0);
