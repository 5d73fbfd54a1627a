import type { strategyRoutes } from '@pipeline/contract';
import {
  approveStrategy,
  type Engine,
  listSnapshots,
  putCharter,
  type RepoAddress,
  readAutomation,
  readCharter,
  readRunState,
  readSnapshot,
  rejectStrategy,
  setAutomation,
} from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { actorOf } from '../auth/actor.ts';
import type { Authentication } from '../auth/authentication.ts';

type Handlers = HandlersOf<typeof strategyRoutes, Authentication>;

/**
 * interface: Strategy.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const strategyHandlers = (deps: () => { engine: Engine }): Handlers => ({
  listStrategySnapshots: async (call) => {
    const items = await listSnapshots(deps().engine, addressOf(call), call.query.status);
    return { status: 200, body: { items, snapshot: true } };
  },
  readStrategySnapshot: async (call) => {
    const snapshot = await readSnapshot(deps().engine, addressOf(call), Number(call.params.version));
    return { status: 200, body: { snapshot } };
  },
  approveStrategySnapshot: async (call) => {
    const { approver, reason } = call.body;
    const actor = actorOf(call.identity, reason);
    await approveStrategy(deps().engine, addressOf(call), Number(call.params.version), { approver, actor });
    return { status: 200, body: { ok: true } };
  },
  rejectStrategySnapshot: async (call) => {
    const actor = actorOf(call.identity, call.body.reason);
    await rejectStrategy(deps().engine, addressOf(call), Number(call.params.version), actor);
    return { status: 200, body: { ok: true } };
  },
  readStrategyCharter: async (call) => ({
    status: 200,
    body: { charter: await readCharter(deps().engine, addressOf(call)) },
  }),
  putStrategyCharter: async (call) => {
    const { reason, ...charter } = call.body;
    const version = await putCharter(deps().engine, addressOf(call), charter, actorOf(call.identity, reason));
    return { status: 200, body: { ok: true, version } };
  },
  readStrategyRunState: async (call) => ({
    status: 200,
    body: { run: await readRunState(deps().engine, addressOf(call)) },
  }),
  readStrategyAutomation: async (call) => ({
    status: 200,
    body: { automation: await readAutomation(deps().engine, addressOf(call)) },
  }),
  putStrategyAutomation: async (call) => {
    const { enabled, reason } = call.body;
    const automation = await setAutomation(deps().engine, addressOf(call), enabled, actorOf(call.identity, reason));
    return { status: 200, body: { ok: true, automation } };
  },
});

const addressOf = ({
  params,
  query,
}: {
  params: { owner: string; repo: string };
  query: { tenant?: string | undefined };
}): RepoAddress => ({ owner: params.owner, repo: params.repo, tenant: query.tenant });
