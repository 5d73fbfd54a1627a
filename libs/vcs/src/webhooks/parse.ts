import { AppError, type HostEvent, parseSlug, type RepoRef } from '@pipeline/domain';
import type { z } from 'zod';
import { toComment, toIssue, toPullRequest, toReview } from '../github/convert.ts';
import { toCheckOfRun, toCheckOfStatus } from '../github/convert-checks.ts';
import {
  anyAction,
  checkRunPayload,
  checkSuitePayload,
  commentPayload,
  ISSUE_ACTIONS,
  installationPayload,
  issuesPayload,
  PULL_REQUEST_ACTIONS,
  pullRequestPayload,
  repositoriesPayload,
  repositoryPayload,
  reviewPayload,
  statusPayload,
} from './payloads.ts';

/** The actions that mean something to the pipeline; every other event and action is ignored. */
const HANDLED: Record<string, { actions: string[]; read: (payload: unknown) => HostEvent[] }> = {
  issues: { actions: [...ISSUE_ACTIONS], read: readIssue },
  issue_comment: { actions: ['created'], read: readComment },
  pull_request: {
    actions: [...PULL_REQUEST_ACTIONS],
    read: readPullRequest,
  },
  pull_request_review: { actions: ['submitted', 'dismissed'], read: readReview },
  check_suite: { actions: ['completed'], read: readCheckSuite },
  check_run: { actions: ['created', 'completed', 'rerequested'], read: readCheckRun },
  status: { actions: [], read: readStatus },
  repository: { actions: ['renamed', 'transferred', 'archived', 'unarchived', 'deleted'], read: readRepository },
  installation: { actions: ['created'], read: readInstallation },
  installation_repositories: { actions: ['added', 'removed'], read: readRepositories },
};

/**
 * Reads one delivery. Pure: the signature must have been checked before.
 * @param eventName the `X-GitHub-Event` header.
 * @returns what happened, or 'ignored' for a ping and for events and actions that mean nothing here.
 * @throws AppError INVALID_INPUT naming the fields, when a handled event lacks what is read of it.
 */
export function parseWebhook(eventName: string, payload: unknown): HostEvent[] | 'ignored' {
  const handled = Object.hasOwn(HANDLED, eventName) ? HANDLED[eventName] : undefined;
  if (!handled) return 'ignored';
  const { action } = parse(anyAction, payload);
  // Statuses have no action.
  if (handled.actions.length === 0) return handled.read(payload);
  return action !== undefined && handled.actions.includes(action) ? handled.read(payload) : 'ignored';
}

function parse<T extends z.ZodType>(schema: T, payload: unknown): z.output<T> {
  const { data, error } = schema.safeParse(payload);
  if (!error) return data as z.output<T>;
  const fields = error.issues.map((issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`).join('; ');
  throw new AppError('INVALID_INPUT', `The delivery's payload does not have the expected form: ${fields}`);
}

const repoOf = (repository: { id?: number | undefined; name: string; owner: { login: string } }): RepoRef => ({
  owner: repository.owner.login,
  name: repository.name,
  hostId: repository.id ?? null,
});

const loginOf = (sender: { login: string } | null | undefined) => sender?.login ?? null;

function readIssue(payload: unknown): HostEvent[] {
  const { action, issue, label, changes = {}, repository, sender } = parse(issuesPayload, payload);
  const changed = (['title', 'body'] as const).filter((field) => changes[field] !== undefined);
  return [
    {
      kind: 'issue',
      action,
      repo: repoOf(repository),
      issue: toIssue(issue),
      sender: loginOf(sender),
      label: label?.name ?? null,
      ...(action === 'edited' && { changed }),
    },
  ];
}

function readComment(payload: unknown): HostEvent[] {
  const { issue, comment, repository, sender } = parse(commentPayload, payload);
  return [
    {
      kind: 'comment',
      repo: repoOf(repository),
      issueNumber: issue.number,
      onPullRequest: Boolean(issue.pull_request),
      comment: toComment(comment),
      issueAuthor: loginOf(issue.user),
      sender: loginOf(sender),
    },
  ];
}

function readPullRequest(payload: unknown): HostEvent[] {
  const { action, pull_request, repository, sender } = parse(pullRequestPayload, payload);
  const pullRequest = toPullRequest(pull_request);
  // What became of it is read from the host, as after the end of checks.
  if (action === 'dequeued') return [endOfChecks(repository, sender, pullRequest.headSha, [pullRequest.number])];
  const what = pullRequestActionOf(action, pullRequest.merged);
  return [{ kind: 'pull-request', action: what, repo: repoOf(repository), pullRequest, sender: loginOf(sender) }];
}

type PullRequestAction = Extract<HostEvent, { kind: 'pull-request' }>['action'];

/** A change between draft and ready for review is an edit. */
function pullRequestActionOf(
  action: Exclude<(typeof PULL_REQUEST_ACTIONS)[number], 'dequeued'>,
  isMerged: boolean,
): PullRequestAction {
  if (action === 'converted_to_draft' || action === 'ready_for_review') return 'edited';
  return action === 'closed' && isMerged ? 'merged' : action;
}

function readReview(payload: unknown): HostEvent[] {
  const { review, pull_request, repository, sender } = parse(reviewPayload, payload);
  const repo = repoOf(repository);
  return [{ kind: 'review', repo, prNumber: pull_request.number, review: toReview(review), sender: loginOf(sender) }];
}

function readCheckSuite(payload: unknown): HostEvent[] {
  const { check_suite, repository, sender } = parse(checkSuitePayload, payload);
  const numbers = check_suite.pull_requests.map((pull) => pull.number);
  return [endOfChecks(repository, sender, check_suite.head_sha, numbers)];
}

type Sent = z.output<typeof checkSuitePayload>;

const endOfChecks = (
  repository: Sent['repository'],
  sender: Sent['sender'],
  headSha: string,
  prNumbers: number[],
): HostEvent => ({ kind: 'checks', repo: repoOf(repository), headSha, prNumbers, checks: [], sender: loginOf(sender) });

function readCheckRun(payload: unknown): HostEvent[] {
  const { check_run, repository, sender } = parse(checkRunPayload, payload);
  return [
    {
      kind: 'checks',
      repo: repoOf(repository),
      headSha: check_run.head_sha,
      prNumbers: check_run.pull_requests.map((pull) => pull.number),
      checks: [toCheckOfRun(check_run)],
      sender: loginOf(sender),
    },
  ];
}

function readStatus(payload: unknown): HostEvent[] {
  const { sha, repository, sender, ...status } = parse(statusPayload, payload);
  const checks = [toCheckOfStatus(status)];
  return [{ kind: 'checks', repo: repoOf(repository), headSha: sha, prNumbers: [], checks, sender: loginOf(sender) }];
}

/** Reads the name of the repository alone, not what happened to it: deliveries may be late and out of order. */
function readRepository(payload: unknown): HostEvent[] {
  const { repository, sender } = parse(repositoryPayload, payload);
  return [{ kind: 'repository', repo: repoOf(repository), sender: loginOf(sender) }];
}

/** An installation names the repositories that it was made with; later ones come in events of their own. */
function readInstallation(payload: unknown): HostEvent[] {
  const { repositories, ...rest } = parse(installationPayload, payload);
  return [repositoriesEvent(rest, repositories, [])];
}

function readRepositories(payload: unknown): HostEvent[] {
  const { repositories_added: added, repositories_removed: removed, ...rest } = parse(repositoriesPayload, payload);
  return [repositoriesEvent(rest, added, removed)];
}

type Around = Pick<z.output<typeof installationPayload>, 'installation' | 'sender'>;
type Named = z.output<typeof installationPayload>['repositories'];

function repositoriesEvent({ installation, sender }: Around, added: Named, removed: Named): HostEvent {
  const refs = (list: Named): RepoRef[] =>
    list.flatMap(({ id: hostId, full_name }) => {
      const slug = parseSlug(full_name);
      return slug ? { ...slug, hostId: hostId ?? null } : [];
    });
  const { id, login } = installation.account;
  return {
    kind: 'repositories',
    installationId: installation.id,
    account: { id, login },
    webUrl: new URL(installation.html_url).origin,
    added: refs(added),
    removed: refs(removed),
    sender: loginOf(sender),
  };
}
