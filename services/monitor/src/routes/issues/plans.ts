import type { planRoutes } from '@pipeline/contract';
import { answerPlanOf, type Engine, findIssueKey, listPlans } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { actorOf } from '../../auth/actor.ts';
import type { Authentication } from '../../auth/authentication.ts';
import { addressOf } from '../parameters/issue-address.ts';

type Handlers = HandlersOf<typeof planRoutes, Authentication>;

/**
 * Plans that need the approval of a person, and their answers.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const planHandlers = (deps: () => { engine: Engine }): Handlers => ({
  listPlans: async (call) => {
    const { limit, offset } = call.query;
    return { status: 200, body: await listPlans(deps().engine, addressOf(call), { limit, offset }) };
  },
  approvePlan: async (call) => {
    const { engine } = deps();
    const { version, text, plannedFiles, reason } = call.body;
    const key = await findIssueKey(engine, addressOf(call));
    const answer = { kind: 'approve' as const, version, text, plannedFiles };
    return {
      status: 200,
      body: { ok: true, ...(await answerPlanOf(engine, key, answer, actorOf(call.identity, reason))) },
    };
  },
  rejectPlan: async (call) => {
    const { engine } = deps();
    const { version, reason } = call.body;
    const key = await findIssueKey(engine, addressOf(call));
    const answer = { kind: 'reject' as const, version };
    return {
      status: 200,
      body: { ok: true, ...(await answerPlanOf(engine, key, answer, actorOf(call.identity, reason))) },
    };
  },
});
