import type { issueActionRoutes } from '@pipeline/contract';
import {
  acceptIssueText,
  actOnIssue,
  allowUncheckedMerge,
  type Engine,
  findIssueKey,
  type IssueAction,
  transitionIssue,
  transitionTargetsOf,
} from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { actorOf } from '../../auth/actor.ts';
import type { Authentication, Operator } from '../../auth/authentication.ts';
import { addressOf } from '../parameters/issue-address.ts';

type Handlers = HandlersOf<typeof issueActionRoutes, Authentication>;

interface Call {
  params: { owner: string; repo: string; issue: string };
  query: { tenant?: string | undefined };
  identity: Operator;
}

/**
 * interface: Issue actions.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const issueActionHandlers = (deps: () => { engine: Engine }): Handlers => {
  const run = async (call: Call & { body: { reason?: string | undefined } }, action: IssueAction) => {
    const { engine } = deps();
    return actOnIssue(
      engine,
      await findIssueKey(engine, addressOf(call)),
      action,
      actorOf(call.identity, call.body.reason),
    );
  };
  return {
    pauseIssue: async (call) => {
      await run(call, 'pause');
      return { status: 200, body: { ok: true } };
    },
    cancelIssue: async (call) => {
      await run(call, 'cancel');
      return { status: 200, body: { ok: true } };
    },
    resumeIssue: async (call) => ({ status: 200, body: { ok: true, state: await run(call, 'resume') } }),
    unblockIssue: async (call) => ({ status: 200, body: { ok: true, state: await run(call, 'unblock') } }),
    retryIssue: async (call) => ({ status: 200, body: { ok: true, state: await run(call, 'retry') } }),
    acceptIssueText: async (call) => {
      const { engine } = deps();
      const key = await findIssueKey(engine, addressOf(call));
      const { sha256, reason } = call.body;
      const accepted = await acceptIssueText(engine, key, { sha256: sha256 ?? null }, actorOf(call.identity, reason));
      return { status: 200, body: { ok: true, accepted } };
    },
    allowUncheckedMerge: async (call) => {
      const { engine } = deps();
      const key = await findIssueKey(engine, addressOf(call));
      const headSha = await allowUncheckedMerge(engine, key, actorOf(call.identity, call.body.reason));
      return { status: 200, body: { ok: true, headSha } };
    },
    transitionIssue: async (call) => {
      const { engine } = deps();
      const key = await findIssueKey(engine, addressOf(call));
      const moved = await transitionIssue(engine, key, call.body.targetState, actorOf(call.identity, call.body.reason));
      return { status: 200, body: { ok: true, ...moved } };
    },
    validTransitions: async (call) => {
      const { engine } = deps();
      return { status: 200, body: await transitionTargetsOf(engine, await findIssueKey(engine, addressOf(call))) };
    },
  };
};
