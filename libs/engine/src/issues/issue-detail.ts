import {
  AppError,
  type ErrorClass,
  type PageRequest,
  type Paginated,
  pageOf,
  parseSinceExactly,
} from '@pipeline/domain';
import {
  type Artefacts,
  artefactsOfIssue,
  eventsOfIssue,
  type IssueEvent,
  type IssueStatus,
  type IssueTrouble,
  newestRetrospective,
  operatorScope,
  type Retrospective,
  statusOfIssue,
  troubleOfIssue,
} from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import type { IssueKey } from '../context/issue-context.ts';
import { findRepoAt } from '../repos/repo-address.ts';
import { explainIssue, type IssueWhy } from './explain-issue.ts';
import { findIssueKey, type IssueAddress } from './issue-address.ts';

/**
 * Why an issue is where it is, for operators: the record that connections read.
 * @throws AppError NOT_FOUND, INVALID_INPUT for the repo, ISSUE_NOT_FOUND.
 */
export async function explainIssueAt(engine: Engine, address: IssueAddress): Promise<IssueWhy> {
  const repo = await findRepoAt(engine, address);
  const { number } = address;
  return explainIssue(engine.store, operatorScope(repo), { slug: `${repo.owner}/${repo.name}`, number });
}

/** The problems of an issue (interface: Issue diagnostic). */
interface Diagnosis extends IssueTrouble, Pick<IssueWhy, 'activeTasks' | 'recommendations'> {
  issue: Pick<
    IssueWhy,
    'issueNumber' | 'title' | 'state' | 'isBlocked' | 'isPaused' | 'blockReason' | 'blockedFromState' | 'stateEnteredAt'
  > | null;
  blockClassification: ErrorClass | null;
  maxAutoUnblocks: number;
}

/**
 * Diagnoses an issue; without a record the issue is null, and there are no problems.
 * @throws AppError NOT_FOUND, INVALID_INPUT for the repo.
 */
export async function diagnose(engine: Engine, address: IssueAddress): Promise<Diagnosis> {
  const maxAutoUnblocks = engine.settings().selfHealing.maxAutoUnblocksPerIssue;
  const why = await unlessUnknown(explainIssueAt(engine, address), ['ISSUE_NOT_FOUND']);
  if (why === null) {
    const nothing = { autoUnblockCount: 0, recentFailedRuns: [], activeTasks: [], recommendations: [] };
    return { issue: null, blockClassification: null, maxAutoUnblocks, ...nothing };
  }
  const { tenantId, issueId } = await findIssueKey(engine, address);
  const trouble = await troubleOfIssue(engine.store.reads, tenantId, issueId);
  const { activeTasks, recommendations, blockClassification, ...facts } = why;
  return {
    issue: {
      issueNumber: facts.issueNumber,
      title: facts.title,
      state: facts.state,
      isBlocked: facts.isBlocked,
      isPaused: facts.isPaused,
      blockReason: facts.blockReason,
      blockedFromState: facts.blockedFromState,
      stateEnteredAt: facts.stateEnteredAt,
    },
    // Issues that wait for others were not stopped by an error, so there is no class.
    blockClassification: facts.isBlocked ? (blockClassification ?? 'unknown') : null,
    maxAutoUnblocks,
    ...trouble,
    activeTasks,
    recommendations,
  };
}

/** @throws AppError NOT_FOUND for an unknown issue too, INVALID_INPUT. */
export async function issueStatusAt(engine: Engine, address: IssueAddress): Promise<IssueStatus> {
  const { tenantId, issueId } = await findInPipeline(engine, address);
  const status = await statusOfIssue(engine.store.reads, tenantId, issueId);
  if (!status) throw new AppError('NOT_FOUND', `Issue ${issueId} has gone`);
  return status;
}

/**
 * A page of an issue's events, newest first. They are not counted.
 * @param since a timestamp or a duration back from now; only later events.
 * @throws AppError NOT_FOUND for an unknown issue too, INVALID_INPUT.
 */
export async function issueEventsAt(
  engine: Engine,
  address: IssueAddress,
  { since, limit, offset }: PageRequest & { since: string | undefined },
  now: Date,
): Promise<Paginated<IssueEvent>> {
  const { tenantId, issueId } = await findInPipeline(engine, address);
  const from = since === undefined ? null : parseSinceExactly(since, now);
  const query = { issueId, since: from, limit: limit + 1, offset };
  return pageOf(await eventsOfIssue(engine.store.reads, tenantId, query), { limit, offset });
}

/** @returns null also for an unknown issue. @throws AppError INVALID_INPUT. */
export async function retrospectiveAt(engine: Engine, address: IssueAddress): Promise<Retrospective | null> {
  const key = await findIfKnown(engine, address);
  return (key && (await newestRetrospective(engine.store.reads, key.tenantId, key.issueId))) ?? null;
}

/** @returns an empty list for an unknown issue. @throws AppError INVALID_INPUT. */
export async function issueArtefactsAt(engine: Engine, address: IssueAddress): Promise<Artefacts> {
  const key = await findIfKnown(engine, address);
  return key ? artefactsOfIssue(engine.store.reads, key.tenantId, key.issueId) : { items: [], truncated: false };
}

/** Finds an issue, for routes where an unknown repo and an unknown issue have the same response. */
async function findInPipeline(engine: Engine, address: IssueAddress): Promise<IssueKey> {
  try {
    return await findIssueKey(engine, address);
  } catch (error) {
    if (error instanceof AppError && error.code === 'ISSUE_NOT_FOUND') throw new AppError('NOT_FOUND', error.message);
    throw error;
  }
}

/** The issue, or null if it or its repo is unknown: nothing was stored about it. */
export const findIfKnown = (engine: Engine, address: IssueAddress): Promise<IssueKey | null> =>
  unlessUnknown(findIssueKey(engine, address), ['NOT_FOUND', 'ISSUE_NOT_FOUND']);

const unlessUnknown = <T>(found: Promise<T>, codes: readonly string[]): Promise<T | null> =>
  found.catch((error: unknown) => {
    if (error instanceof AppError && codes.includes(error.code)) return null;
    throw error;
  });
