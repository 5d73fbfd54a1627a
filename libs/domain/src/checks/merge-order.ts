import { isReviewable, type State } from '../states.ts';

/**
 * Modes in which the pull requests of the pipeline in one repository are merged.
 * - off: each as soon as it may be merged.
 * - serial: one after another, each tested on top of what was merged before.
 */
export const MERGE_TRAINS = ['off', 'serial'] as const;
export type MergeTrain = (typeof MERGE_TRAINS)[number];

/** A pull request whose merge, or the update of whose branch, is in the outbox, or that is the current front. */
export interface TrainCar {
  prNumber: number;
  headSha: string;
  /** The state of its issue. */
  state: State;
  isPaused: boolean;
  /** Id of its pending merge in the outbox; null = none. The smallest one is the oldest. */
  mergeId: number | null;
  /** Its merge waits for the retry of a failed attempt, or behind another host write of its issue. */
  isHeldUp: boolean;
  /** An attempt of its merge has begun and its result is not known. */
  isInDoubt: boolean;
  /** The update of its branch is in the outbox. */
  isUpdating: boolean;
}

/** The pull request that merges next. It keeps that place until it has left it. */
export interface TrainFront {
  prNumber: number;
  /** The head that our update of its branch made; null = none was needed yet. */
  updatedHead: string | null;
  /** Milliseconds since it became the front, or since its last host write. */
  ageMs: number;
}

/**
 * Returns whether the front keeps its place: its merge is ready, its merge may be on its way to the host, or its branch
 * is updated and its new head waits for its approval. `timeoutMs` limits all but the first, which the wait for checks
 * ends.
 */
function keepsPlace(car: TrainCar, front: TrainFront, timeoutMs: number): boolean {
  const isInTime = front.ageMs < timeoutMs;
  if (isReady(car)) return true;
  if (!isInTime) return false;
  if (car.mergeId !== null && car.isInDoubt) return true;
  if (car.isPaused) return false;
  if (car.isUpdating) return true;
  return front.updatedHead === car.headSha && isReviewable(car.state) && !car.isHeldUp;
}

const isReady = ({ mergeId, state, isPaused, isHeldUp }: TrainCar): boolean =>
  mergeId !== null && state === 'merge-pending' && !isPaused && !isHeldUp;

/**
 * The pull request that may be merged next: the current front while it keeps its place, else the one whose merge has
 * been ready for longest. A pure function; the order of `cars` does not matter.
 * @param timeoutMs time that a front may take for an attempt, or for the approval of its updated head.
 * @returns its number; null when none is ready.
 */
export function chooseFront(cars: readonly TrainCar[], front: TrainFront | null, timeoutMs: number): number | null {
  const current = front && cars.find(({ prNumber }) => prNumber === front.prNumber);
  if (front && current && keepsPlace(current, front, timeoutMs)) return front.prNumber;
  const [oldest] = cars.filter(isReady).sort((a, b) => Number(a.mergeId) - Number(b.mergeId));
  return oldest?.prNumber ?? null;
}
