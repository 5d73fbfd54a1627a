import { timingSafeEqual } from 'node:crypto';
import express, { Router } from 'express';
import type { z } from 'zod';
import { Failure, notFound } from '../http/failure.ts';
import { Fault, type Faults } from '../http/faults.ts';
import { numberParam, readBody } from '../http/request.ts';
import type { RequestLog } from '../http/request-log.ts';
import { renderRepo } from '../render/basics.ts';
import { addHook, addRepo, addUser, NewHook, NewRepo, NewUser } from '../repos/admin.ts';
import { GLOBAL, type Sandbox } from '../state/model.ts';

interface AdminOptions {
  faults: Faults;
  requests: RequestLog;
  /** null: open to every client that reaches the address. */
  adminToken: string | null;
}

/** Routes for which a real host has no API: repos from existing git, identities, hooks, faults, a count of requests. */
export function adminRoutes(sandbox: Sandbox, { faults, requests, adminToken }: AdminOptions): Router {
  const router = Router();
  const { state, deliveries } = sandbox;
  router.use((req, _res, next) => {
    if (adminToken !== null && !same(req.headers.authorization ?? '', `Bearer ${adminToken}`)) {
      throw new Failure(401, 'the admin token is required as bearer token');
    }
    // Pages of other sites can post forms but not JSON.
    if (req.method === 'POST' && !req.is('application/json')) throw new Failure(415, 'send application/json');
    next();
  });
  router.use(express.json());

  router.post('/repos', async (req, res) => {
    const repo = await addRepo(sandbox, readBody(NewRepo, req, 'Repository'));
    res.status(201).json(renderRepo(sandbox, repo));
  });
  router.post('/users', (req, res) => {
    const { id, login, type } = addUser(sandbox, readBody(NewUser, req, 'User'));
    res.status(201).json({ id, login, type });
  });

  const hooks = () => state.list('hook', GLOBAL).filter(({ appId }) => appId === undefined);
  router.get('/webhooks', (_req, res) => {
    res.json(hooks().map(({ id, url }) => ({ id, url })));
  });
  router.post('/webhooks', (req, res) => {
    const { id, url } = addHook(sandbox, readBody(NewHook, req, 'Hook'));
    res.status(201).json({ id, url });
  });
  router.delete('/webhooks/:id', (req, res) => {
    state.remove('hook', GLOBAL, numberParam(req, 'id'));
    res.status(204).end();
  });

  router.get('/deliveries', (_req, res) => {
    res.json(state.list('delivery', GLOBAL).map(({ body: _body, ...delivery }) => delivery));
  });
  router.post('/deliveries/flush', async (_req, res) => {
    await deliveries.flush();
    res.status(204).end();
  });
  router.post('/deliveries/:id/redeliver', async (req, res) => {
    if (!deliveries.redeliver(numberParam(req, 'id'))) throw notFound();
    await deliveries.flush();
    res.status(204).end();
  });

  router.post('/fail-next', (req, res) => {
    faults.add(readBody(Fault as z.ZodType<Fault>, req, 'Fault'));
    res.status(204).end();
  });
  router.delete('/fail-next', (_req, res) => {
    faults.clear();
    res.status(204).end();
  });
  router.get('/requests', (_req, res) => {
    res.json({ counts: requests.counts(), requests: requests.entries() });
  });
  router.delete('/requests', (_req, res) => {
    requests.clear();
    res.status(204).end();
  });
  return router;
}

function same(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
