import { AppError, type TaskType } from '@pipeline/domain';
import type { WorkerIdentity } from './worker-tokens.ts';

/** The requested types of tasks that the token may claim; the others are left out. */
export const typesOf = ({ taskTypes }: WorkerIdentity, requested: readonly TaskType[]): TaskType[] =>
  requested.filter((type) => taskTypes?.includes(type) ?? true);

/**
 * Refuses a registration for types of tasks that the token may not claim: the worker would wait without an error.
 * @throws AppError INVALID_BODY naming the first of them.
 */
export function requireTypes(identity: WorkerIdentity, requested: readonly TaskType[]): void {
  const allowed = typesOf(identity, requested);
  const refused = requested.find((type) => !allowed.includes(type));
  if (refused !== undefined) throw new AppError('INVALID_BODY', `taskTypes: the token may not claim ${refused} tasks`);
}
