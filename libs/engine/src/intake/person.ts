import { branchOf, OWN_BRANCH_PREFIX, type VcsHost } from '@pipeline/domain';
import { pullRequestsOf } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import type { Intake } from '../repos/repo-address.ts';

/** The reads of the host that the question takes. */
export type PersonReads = Pick<VcsHost, 'login' | 'isPerson' | 'permissionOf' | 'pushersOf' | 'hasCreatedBranch'>;

type Place = Omit<Intake, 'host'> & { host: PersonReads };

interface Act {
  /** The issue that the account acts on; null = one without a record. */
  issue: { id: number; issue_number: number } | null;
  /** True = the permission is read now, for approvals and merges; else it may be 5 minutes old. */
  now?: boolean;
}

/**
 * Returns whether an account of the host may act as a person: approve, command, enqueue, reopen. It needs write
 * permission, and it is no bot, neither the pipeline nor one of its workers. It has not pushed to the branch of the issue
 * and has created no branch of another one, as the account of an agent's token does; a person who pushed to the branch
 * of another issue may act. At most three requests to the host; none for a bot or a worker.
 */
export async function mayActAsPerson(
  place: Place,
  login: string | null,
  { issue, now = false }: Act,
): Promise<boolean> {
  if (login === null || (await isMachine(place, login))) return false;
  const permission = await place.host.permissionOf(place.repo, login, now);
  if (permission !== 'admin' && permission !== 'write') return false;
  if (issue !== null && (await hasPushed(place, login, issue))) return false;
  return !(await place.host.hasCreatedBranch(place.repo, login, OWN_BRANCH_PREFIX));
}

/** Returns whether an account is a bot, the pipeline's own or that of a worker. */
export async function isMachine({ engine, host }: Pick<Place, 'engine' | 'host'>, login: string): Promise<boolean> {
  if (login.toLowerCase().endsWith('[bot]') || includes(workersOf(engine), login)) return true;
  return includes([await host.login()], login) && !(await host.isPerson());
}

const workersOf = (engine: Engine): readonly string[] => engine.settings().review.workerLogins;

const includes = (logins: readonly string[], login: string): boolean =>
  logins.some((each) => each.toLowerCase() === login.toLowerCase());

async function hasPushed({ engine, repo, host }: Place, login: string, issue: NonNullable<Act['issue']>) {
  const pulls = await pullRequestsOf(engine.store.db, repo.tenant_id, issue.id);
  const own = pulls.filter((pull) => pull.agent_authored).map((pull) => pull.head_ref);
  for (const branch of new Set([branchOf(issue.issue_number), ...own])) {
    if (includes(await host.pushersOf(repo, branch), login)) return true;
  }
  return false;
}
