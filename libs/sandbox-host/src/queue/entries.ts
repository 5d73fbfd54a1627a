import { addEvent, announce } from '../issues/changes.ts';
import { renderRepo, renderUser } from '../render/basics.ts';
import type { PullIssue, QueueEntryRecord, RepoRecord, Sandbox } from '../state/model.ts';
import { change, timestamp } from '../state/sandbox.ts';

/** Reasons in the words of the host. */
export type RemovalReason =
  | 'CI_FAILURE'
  | 'MERGE_CONFLICT'
  | 'BRANCH_PROTECTIONS'
  | 'MANUAL'
  | 'MERGE'
  | 'UNKNOWN_REMOVAL_REASON';

export const entryOf = ({ state }: Sandbox, repo: RepoRecord, number: number): QueueEntryRecord | undefined =>
  state.list('queueEntry', repo.id).find(({ pullNumber }) => pullNumber === number);

/** Puts a pull request at the end of the queue; one that is there keeps its place. */
export function addEntry(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue, by: string): QueueEntryRecord {
  const known = entryOf(sandbox, repo, issue.number);
  if (known) return known;
  const { state } = sandbox;
  return change(sandbox, () => {
    const { headSha } = issue.pull;
    const times = { createdAt: timestamp(sandbox) };
    const entry = { id: state.nextId(), pullNumber: issue.number, headSha, by, group: null, ...times };
    state.put('queueEntry', repo.id, entry);
    addEvent(sandbox, repo, issue, { event: 'added_to_merge_queue', actor: by });
    announce(sandbox, repo, issue, { action: 'enqueued', by });
    return entry;
  });
}

/** Takes a pull request out of the queue, with the reason in the log of it and in the webhook. */
export function removeEntry(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: PullIssue,
  { entry, reason, by }: { entry: QueueEntryRecord; reason: RemovalReason; by: string },
): void {
  change(sandbox, () => {
    sandbox.state.remove('queueEntry', repo.id, entry.id);
    const removal = { reason, headSha: entry.headSha, groupSha: entry.group?.sha ?? null };
    addEvent(sandbox, repo, issue, { event: 'removed_from_merge_queue', actor: by, removal });
    announce(sandbox, repo, issue, { action: 'dequeued', by, extra: { reason } });
  });
}

/** Sends `merge_group`: the checks of a group are requested. */
export function announceGroup(sandbox: Sandbox, repo: RepoRecord, { group, by }: QueueEntryRecord): void {
  if (!group) return;
  const { baseSha, sha, ref } = group;
  sandbox.deliveries.emit('merge_group', {
    action: 'checks_requested',
    merge_group: { head_sha: sha, head_ref: ref, base_sha: baseSha, base_ref: `refs/heads/${repo.defaultBranch}` },
    repository: renderRepo(sandbox, repo),
    sender: renderUser(sandbox, by),
  });
}
