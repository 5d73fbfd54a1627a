import type { PushProtection } from '../vcs/host.ts';
import type { DoctorCheck } from './doctor.ts';

/** Result of the check that also runs when a repository is enabled. */
export interface PushProtectionCheck extends DoctorCheck {
  check: 'push-protection';
  status: 'ok' | 'warning' | 'unknown';
}

/** Checks whether the tokens of develop tasks can push to the default branch of a repository. */
export function judgePushProtection(branch: string, { restricted, by }: PushProtection): PushProtectionCheck {
  const check = 'push-protection';
  if (restricted === true) {
    return {
      check,
      status: 'ok',
      message: `pushes to ${branch} are restricted${by.length > 0 ? ` (${by.join(', ')})` : ''}`,
    };
  }
  if (restricted === null) {
    const message = `${branch} has a protection that the pipeline's identity cannot read: check that it requires pull requests`;
    return { check, status: 'unknown', message };
  }
  const message =
    `pushes to ${branch} are not restricted: a develop token may push to any branch of the repository, including this one, ` +
    'bypassing review and checks. Add a ruleset or branch protection that requires pull requests';
  return { check, status: 'warning', message };
}
