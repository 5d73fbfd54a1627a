/** Checks of the whole deployment. */
export const SERVICE_CHECKS = ['database', 'database-clock', 'disk', 'budget'] as const;
/** Checks of a repository. */
export const REPO_CHECKS = [
  'credentials',
  'host-clock',
  'permissions',
  'repository',
  'webhook',
  'webhook-deliveries',
  'push-protection',
  'review-gate',
  'required-checks',
  'merge-method',
  'labels',
  'workers',
] as const;
export type DoctorCheckName = (typeof SERVICE_CHECKS)[number] | (typeof REPO_CHECKS)[number];

/**
 * - warning: the pipeline works, with less safety or speed.
 * - error: the pipeline does not work, or not for long.
 * - unknown: the check was not possible; the message states why.
 */
export type DoctorStatus = 'ok' | 'warning' | 'error' | 'unknown';

/** Result of one check. The message of a warning or an error ends with the remedy. */
export interface DoctorCheck {
  check: DoctorCheckName;
  status: DoctorStatus;
  message: string;
}

/** Returns whether a result needs an action. */
export const needsAction = ({ status }: DoctorCheck): boolean => status === 'warning' || status === 'error';

/** The result of a check that was not possible. */
export const unknownCheck = (check: DoctorCheckName, message: string): DoctorCheck => ({
  check,
  status: 'unknown',
  message,
});
