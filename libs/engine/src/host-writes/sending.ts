import type { ProjectionRow, RepoRow } from '@pipeline/store';

/** An attempt of an outbox entry that has begun. */
export interface Sending {
  projection: ProjectionRow;
  repo: RepoRow;
  /** An earlier attempt was interrupted or ended in doubt: the host may have executed it. */
  mayHaveHappened: boolean;
  /** Epoch of the leader that began the attempt; null without one. */
  epoch: number | null;
}
