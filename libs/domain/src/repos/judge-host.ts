import {
  type CheckPolicy,
  type MergeMethod,
  type MergeRules,
  mergeMethodOf,
  REVIEW_CONTEXT,
  type ReviewGate,
} from '../checks/checks.ts';
import { INBOUND_LABELS } from '../labels.ts';
import { APP_EVENTS, APP_PERMISSIONS } from '../vcs/app.ts';
import type { AppInstallation, HostIdentity, HostWebhook } from '../vcs/diagnostics.ts';
import { problemOfRepo, remedyForRepo, type UnavailableReason } from './availability.ts';
import type { DoctorCheck } from './doctor.ts';

/** Checks that the host accepts the credentials, and whether they are a GitHub App's. null = it rejects them. */
export function judgeCredentials(identity: HostIdentity | null): DoctorCheck {
  const check = 'credentials';
  if (!identity) {
    const message =
      'the host rejects the credentials. Set a valid token, or the id and the current key of the GitHub App';
    return { check, status: 'error', message };
  }
  const { kind, login } = identity;
  if (kind === 'app') return { check, status: 'ok', message: `acts as the GitHub App ${login}` };
  const message = `acts with a token of ${login}, whose permissions and rate limit it shares. What agents write with it counts as ${login}'s own. Use a GitHub App except for trying the service`;
  return { check, status: 'warning', message };
}

/**
 * Checks that the host has the repo and lets it be written.
 * @param former slugs that it had before, in lower case.
 */
export function judgeRepository(
  slug: string,
  reason: UnavailableReason | null,
  former: readonly string[],
): DoctorCheck {
  const check = 'repository';
  if (reason) return { check, status: 'error', message: `${slug} ${problemOfRepo(reason)}. ${remedyForRepo(reason)}` };
  if (former.length === 0) return { check, status: 'ok', message: `${slug} can be read and written` };
  const message = `${slug} can be read and written. It was ${former.join(' and ')} before: a configuration file with that name should be changed`;
  return { check, status: 'ok', message };
}

const RANK: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 };

/** Checks the app's installation on a repo and its permissions. Names those that are missing. */
export function judgeInstallation({ state, permissions: granted }: AppInstallation): DoctorCheck {
  const check = 'permissions';
  if (state === 'missing') {
    const message = 'the GitHub App is not installed on this repo. Install it, or add the repo to its installation';
    return { check, status: 'error', message };
  }
  if (state === 'suspended') {
    const message = 'the installation of the GitHub App is suspended. Unsuspend it in the settings of the account';
    return { check, status: 'error', message };
  }
  const missing = Object.entries(APP_PERMISSIONS)
    .filter(([name, level]) => (RANK[granted[name] ?? ''] ?? 0) < (RANK[level] ?? 0))
    .map(([name, level]) => `${name}: ${level}`);
  if (missing.length === 0) return { check, status: 'ok', message: 'the installation has every permission' };
  const message = `the installation lacks ${missing.join(', ')}. Add them in the settings of the app and accept them in its installation`;
  return { check, status: 'error', message };
}

/** Checks the permission of a token's user on a repo. */
export function judgeUserPermission(login: string, permission: 'admin' | 'write' | 'read' | 'none'): DoctorCheck {
  const check = 'permissions';
  if (permission === 'admin' || permission === 'write') {
    return { check, status: 'ok', message: `${login} has the permission ${permission}` };
  }
  const message = `${login} lacks the permission write (it has ${permission}). Add ${login} to the collaborators of the repo with that permission`;
  return { check, status: 'error', message };
}

/** Checks that a webhook of the host is active, has the needed events, and that its last delivery succeeded. */
export function judgeWebhook(webhooks: readonly HostWebhook[]): DoctorCheck {
  const check = 'webhook';
  const [first] = webhooks;
  if (!first) {
    const message =
      'the host has no webhook for this repo. Add one with the address https://<hosted API>/webhooks/github';
    return { check, status: 'warning', message };
  }
  const best = webhooks.find((hook) => problemOf(hook) === null) ?? first;
  const problem = problemOf(best);
  if (problem) return { check, ...problem };
  const delivered = best.lastStatus === null ? 'nothing was delivered yet' : `the last delivery got ${best.lastStatus}`;
  return { check, status: 'ok', message: `${best.url} is active; ${delivered}` };
}

function problemOf({ url, active, events, lastStatus }: HostWebhook): Omit<DoctorCheck, 'check'> | null {
  if (!active) return { status: 'warning', message: `${url} is not active. Activate it on the host` };
  if (lastStatus === 401 || lastStatus === 403) {
    const message = `${url} refused the last delivery with ${lastStatus}. Set the same secret on the host and in GITHUB_WEBHOOK_SECRET`;
    return { status: 'error', message };
  }
  if (lastStatus !== null && (lastStatus < 200 || lastStatus >= 300)) {
    const result = lastStatus === 0 ? 'got no response' : `got ${lastStatus}`;
    const message = `the last delivery to ${url} ${result}. Make the hosted API reachable from the host at that address`;
    return { status: 'error', message };
  }
  const missing = events.includes('*') ? [] : APP_EVENTS.filter((event) => !events.includes(event));
  if (missing.length === 0) return null;
  const message = `${url} does not get the events ${missing.join(', ')}. Subscribe to them on the host`;
  return { status: 'warning', message };
}

/**
 * Checks that the checks which a merge waits for are reported.
 * @param seen names of the checks that were reported lately.
 */
export function judgeRequiredChecks(
  policy: CheckPolicy,
  required: readonly string[],
  seen: readonly string[],
): DoctorCheck {
  const check = 'required-checks';
  const unseen = required.filter((name) => !seen.includes(name));
  if (unseen.length > 0) {
    const message = `the branch requires ${unseen.join(', ')}, not reported in the last 30 days. Correct the names in the protection of the branch, or run the checks on pull requests`;
    return { check, status: 'warning', message };
  }
  if (required.length > 0)
    return { check, status: 'ok', message: `required and reported lately: ${required.join(', ')}` };
  if (seen.length > 0) {
    const message = `the branch requires none; a merge waits for those of the head, reported lately: ${seen.join(', ')}`;
    return { check, status: 'ok', message };
  }
  if (policy === 'none') return { check, status: 'ok', message: 'the branch requires none, and the repo allows none' };
  const message =
    'no check was reported in the last 30 days, and a head without checks is not merged. Run checks on pull requests, or allow none with pipeline repo add --checks none';
  return { check, status: 'warning', message };
}

/**
 * Checks that the branch requires the status of the review from the app of the pipeline. Without that, any token that
 * may write merges a head that no one approved.
 * @param merges whether the workflow merges what an agent approves, without a person.
 */
export function judgeReviewGate(gate: ReviewGate, merges: boolean): DoctorCheck {
  const check = 'review-gate';
  if (gate === 'app') {
    return { check, status: 'ok', message: `the branch requires ${REVIEW_CONTEXT} from the app of the pipeline` };
  }
  const problem =
    gate === 'any'
      ? `the branch requires ${REVIEW_CONTEXT} of any account, so that any token with write access can set it`
      : `the branch does not require ${REVIEW_CONTEXT}, so that any token with write access can merge what was not approved`;
  const message = `${problem}. Require this status check in the protection of the branch, with the GitHub App of the pipeline as its source`;
  return { check, status: merges ? 'error' : 'warning', message };
}

/** Checks that the host allows the preferred way of merging. */
export function judgeMergeMethod(preferred: MergeMethod, { methods }: Pick<MergeRules, 'methods'>): DoctorCheck {
  const check = 'merge-method';
  if (methods.includes(preferred)) return { check, status: 'ok', message: `${preferred} is allowed on the host` };
  const used = mergeMethodOf(preferred, methods);
  const message = `${preferred} is configured but not allowed on the host, so that ${used} is used. Allow it in the settings of the repo, or configure ${used}`;
  return { check, status: 'warning', message };
}

/** Checks that the labels exist which people set. The pipeline creates the others when it first sets them. */
export function judgeLabels(labels: readonly string[]): DoctorCheck {
  const check = 'labels';
  const present = new Set(labels.map((label) => label.toLowerCase()));
  const missing = INBOUND_LABELS.filter((label) => !present.has(label));
  if (missing.length === 0) return { check, status: 'ok', message: `${INBOUND_LABELS.join(' and ')} exist` };
  const message = `${missing.join(' and ')} cannot be selected on an issue. Create the missing labels in the repo`;
  return { check, status: 'warning', message };
}
