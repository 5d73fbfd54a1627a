import type { State } from '../states.ts';

/** A transition that failed permanently and was recorded instead of retried (interface: Dead letter). */
export interface DeadLetter {
  id: string;
  repoOwner: string;
  repoName: string;
  issueNumber: number;
  fromState: State | null;
  targetState: string;
  agentName: string | null;
  error: string;
  createdAt: string;
}
