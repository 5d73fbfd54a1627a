import { type DoctorCheck, type DoctorCheckName, unknownCheck } from '@pipeline/domain';

/** Rejects when the work takes too long. */
export type Deadline = <T>(work: Promise<T>) => Promise<T>;
export type CheckList = Partial<Record<DoctorCheckName, () => Promise<DoctorCheck>>>;

/** Runs checks concurrently. One that fails or takes too long is unknown and does not affect the others. */
export const runChecks = (checks: CheckList, deadline: Deadline): Promise<DoctorCheck[]> =>
  Promise.all(
    Object.entries(checks).map(async ([name, work]) => {
      try {
        return await deadline(work());
      } catch (error) {
        return unknownCheck(name as DoctorCheckName, error instanceof Error ? error.message : String(error));
      }
    }),
  );
