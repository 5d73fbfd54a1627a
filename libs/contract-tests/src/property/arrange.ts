import {
  type AnyRoute,
  claimTask,
  completeTask,
  createTrackPrompt,
  putTrack,
  registerWorker,
} from '@pipeline/contract';
import { TASK_TYPES } from '@pipeline/domain';
import type { Credential } from '../target/credentials.ts';
import type { PlannedRequest } from '../target/planned-request.ts';
import type { Target } from '../target/target.ts';
import { type GoodCredentials, plainRequest } from './learn.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Claims held for an endpoint: few, so that a request often names the task and the token of the same claim. */
const CLAIMS = 2;
const TRACK = 'pipeline-contract';

interface Claim {
  id: string;
  taskType: string;
  claimToken: string;
}

const serves = ({ surface }: Target, route: AnyRoute): boolean => surface.routes.some(({ id }) => id === route.id);

/** Returns whether requests to the endpoint need a claim of their own. */
export const actsOnClaim = ({ path }: AnyRoute): boolean => path.startsWith('/api/worker/tasks/');

/** Sends a request. @returns the body of a 200, parsed; null for any other answer. */
async function ask<T>(target: Target, request: PlannedRequest, credential: Credential): Promise<T | null> {
  const outcome = await target.send(request, credential);
  return outcome.ok && outcome.answer.status === 200 ? (JSON.parse(outcome.answer.body) as T) : null;
}

const withBody = (route: AnyRoute, body: object, params: Record<string, string> = {}): PlannedRequest =>
  plainRequest(route, { params, body: JSON.stringify(body) });

/** Claims tasks as a worker of the given name. @returns the worker's id with what it has claimed. */
async function claimAs(name: string, target: Target, credential: Credential) {
  const taskTypes = TASK_TYPES;
  const worker = await ask<{ workerId: string }>(target, withBody(registerWorker, { name, taskTypes }), credential);
  const claims: Claim[] = [];
  while (worker && claims.length < CLAIMS) {
    const { workerId } = worker;
    const answer = await ask<{ task: Claim }>(target, withBody(claimTask, { workerId, taskTypes }), credential);
    if (!answer) break;
    claims.push(answer.task);
  }
  return { workerId: worker?.workerId, claims };
}

/**
 * Claims tasks for requests to one endpoint of the worker protocol, by a worker of its own: other endpoints cannot take
 * them away. It changes the target.
 */
export async function claimFor(route: AnyRoute, target: Target, credential: Credential, into: Vocabulary) {
  const { workerId, claims } = await claimAs(`pipeline-contract ${route.id}`, target, credential);
  const { path } = route;
  into.give(path, 'workerId', workerId === undefined ? [] : [workerId]);
  into.give(
    path,
    'id',
    claims.map(({ id }) => id),
  );
  into.give(
    path,
    'claimToken',
    claims.map(({ claimToken }) => claimToken),
  );
}

const FINDING = {
  findingType: 'risk',
  category: 'tests',
  severity: 'low',
  title: 'A finding',
  summary: 'Of the contract tests.',
};
const KNOWLEDGE = { kind: 'invariant', title: 'An item', summary: 'Of the contract tests.' };

/** Makes what requests act on and lists may lack: a finding, an item of intelligence, a track with a prompt. */
export async function arrange(target: Target, goods: GoodCredentials, into: Vocabulary): Promise<void> {
  if (serves(target, completeTask)) await reportFinding(target, goods(completeTask)[0]);
  if (serves(target, putTrack)) await makeTrack(target, goods(putTrack)[0], into);
}

async function reportFinding(target: Target, credential: Credential | undefined): Promise<void> {
  if (!credential) return;
  const { claims } = await claimAs('pipeline-contract', target, credential);
  const claim = claims.find(({ taskType }) => taskType === 'analyze');
  if (!claim) return;
  const { claimToken } = claim;
  const report = { claimToken, outcome: 'analyzed', result: {}, findings: [FINDING], intelligence: [KNOWLEDGE] };
  await ask(target, withBody(completeTask, report, { id: claim.id }), credential);
}

async function makeTrack(target: Target, credential: Credential | undefined, into: Vocabulary): Promise<void> {
  const slug = into
    .known('', 'repo')
    .map(String)
    .find((text) => /^[^/]+\/[^/]+$/.test(text));
  const [owner, repo] = slug?.split('/') ?? [];
  if (!credential || owner === undefined || repo === undefined) return;
  await ask(target, withBody(putTrack, { repo: slug, name: TRACK }), credential);
  await ask(target, withBody(createTrackPrompt, { seed_title: TRACK }, { owner, repo, name: TRACK }), credential);
  for (const route of target.surface.routes.filter(({ path }) => path.startsWith('/api/tracks/{owner}'))) {
    into.give(route.path, 'owner', [owner]);
    into.give(route.path, 'repo', [repo]);
    into.give(route.path, 'name', [TRACK]);
    into.give(route.path, 'version', [1, 2, 3]);
  }
}
