import type { PushProtection } from './vcs.ts';

/** What was found about one thing that an operator should know before a repository is worked on. */
export interface DoctorCheck {
  check: 'push-protection';
  status: 'ok' | 'warning' | 'unknown';
  message: string;
}

/** Judges whether the default branch of a repository is open to the tokens that develop tasks get. */
export function judgePushProtection(branch: string, { restricted, by }: PushProtection): DoctorCheck {
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
