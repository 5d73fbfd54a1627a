import type { artefactRoutes, issueDetailRoutes, issueRoutes, timelineRoutes } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import {
  diagnose,
  type Engine,
  explainIssueAt,
  issueArtefactsAt,
  issueEventsAt,
  issueStatusAt,
  noRepoContext,
  retrospectiveAt,
  searchIssues,
  timelineAt,
} from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { artefactsOfRun } from '@pipeline/store';
import type { Authentication } from '../../auth/authentication.ts';
import { addressOf } from '../parameters/issue-address.ts';

type Routes = readonly [
  ...typeof issueRoutes,
  ...typeof issueDetailRoutes,
  ...typeof artefactRoutes,
  ...typeof timelineRoutes,
];
type Handlers = HandlersOf<Routes, Authentication>;

/**
 * interface: Issue detail, Runs, Timeline; and the list of issues.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const issueDetailHandlers = (deps: () => { engine: Engine }, now: () => Date): Handlers => ({
  searchIssues: async ({ query }) => ({ status: 200, body: await searchIssues(deps().engine, query) }),
  explainIssueTo: async (call) => ({ status: 200, body: await explainIssueAt(deps().engine, addressOf(call)) }),
  diagnoseIssue: async (call) => ({ status: 200, body: await diagnose(deps().engine, addressOf(call)) }),
  issueStatus: async (call) => ({ status: 200, body: await issueStatusAt(deps().engine, addressOf(call)) }),
  issueEvents: async (call) => {
    const { since, limit, offset } = call.query;
    const page = { since, limit, offset };
    return { status: 200, body: await issueEventsAt(deps().engine, addressOf(call), page, now()) };
  },
  issueRetrospective: async (call) => {
    return { status: 200, body: { retrospective: await retrospectiveAt(deps().engine, addressOf(call)) } };
  },
  issueArtefacts: async (call) => {
    return { status: 200, body: { ...(await issueArtefactsAt(deps().engine, addressOf(call))), snapshot: true } };
  },
  runArtefacts: async ({ params }) => {
    const found = await artefactsOfRun(deps().engine.store.db, Number(params.runId));
    return { status: 200, body: { ...found, snapshot: true } };
  },
  readTimeline: async (call) => {
    const address = addressOf(call);
    return { status: 200, body: await timelineAt(engineFor(deps, address), address) };
  },
});

/** The engine, or the contract's own words where there is no store. */
function engineFor(deps: () => { engine: Engine }, address: ReturnType<typeof addressOf>): Engine {
  try {
    return deps().engine;
  } catch (error) {
    if (error instanceof AppError && error.code === 'STORE_UNAVAILABLE') throw noRepoContext(address);
    throw error;
  }
}
