import type { ErrorClass, State } from '@pipeline/domain';
import type { Draw } from './draw.ts';
import type { NewRow } from './insert-rows.ts';

/** Tables whose rows are made here one by one; what follows from them is made in the store (derived.ts). */
export const STORY_TABLES = [
  'issues',
  'issue_edges',
  'transitions',
  'runs',
  'agent_invocations',
  'tasks',
  'pull_requests',
  'findings',
  'finding_sightings',
  'dead_letters',
  'retrospectives',
  'pipeline_events',
] as const;

export type StoryRows = { [T in (typeof STORY_TABLES)[number]]: NewRow<T>[] };

export const noRows = (): StoryRows => ({
  issues: [],
  issue_edges: [],
  transitions: [],
  runs: [],
  agent_invocations: [],
  tasks: [],
  pull_requests: [],
  findings: [],
  finding_sightings: [],
  dead_letters: [],
  retrospectives: [],
  pipeline_events: [],
});

/** A repo of the history, and what its issues share. */
export interface StoryRepo {
  tenantId: number;
  id: number;
  owner: string;
  name: string;
  workerIds: readonly string[];
  /** The number that the host gave out last. */
  lastNumber: number;
}

/** Numbers that go up over the whole history. */
export interface Counters {
  issue: number;
  run: number;
  transition: number;
  turn: number;
}

export interface Chronicle {
  draw: Draw;
  /** Milliseconds since 1970: nothing happens at or after it. */
  end: number;
  counters: Counters;
  rows: StoryRows;
}

/** An issue on its way. */
export interface Story extends Chronicle {
  repo: StoryRepo;
  issueId: number;
  number: number;
  /** Time of its admission. */
  enteredAt: number;
  state: State;
  /** Time at which the issue entered its state. */
  since: number;
  /** Time at which its work can begin: later than `since` if something blocked it. */
  freeAt: number;
  origin: State | null;
  /** Bits of the states that it has been in. */
  reached: number;
  /** The pull request on its own branch that is open. */
  pr: NewRow<'pull_requests'> | null;
  planned: boolean;
  submitted: boolean;
  costMicros: number;
  unreportedCosts: number;
  lastError: string | null;
  blockReason: string | null;
  blockClass: ErrorClass | null;
  edges: Map<string, NewRow<'issue_edges'>>;
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** An event that follows from no other row. */
export function record(
  { repo, issueId, number, rows }: Story,
  at: number,
  event: { type: string; agent: string; payload: Record<string, string | number | boolean | null | undefined> },
): void {
  rows.pipeline_events.push({
    tenant_id: repo.tenantId,
    created_at: iso(at),
    repo_id: repo.id,
    issue_id: issueId,
    issue_number: number,
    event_type: event.type,
    agent: event.agent,
    payload: event.payload,
  });
}
