import type { ExecuteResult, ProjectionAction } from '@pipeline/domain';
import { BOT, type HostState } from './state.ts';

type Write<T extends ProjectionAction['type']> = (
  host: HostState,
  issueNumber: number,
  action: Extract<ProjectionAction, { type: T }>,
  /** An earlier attempt may have reached the host. */
  look: boolean,
) => ExecuteResult;

type Created = Extract<ExecuteResult, { status: 'ok' }>['created'];
const ok = (created: Created = null, repeated = false): ExecuteResult => ({ status: 'ok', repeated, created });
const refused = (
  httpStatus: number,
  kind: Extract<ExecuteResult, { status: 'refused' }>['kind'] = 'other',
): ExecuteResult => ({ status: 'refused', httpStatus, message: 'the model host refuses', kind });
const hidden = (marker: string): string => `<!-- ${marker} -->`;

const createIssue: Write<'createIssue'> = (host, _number, { title, body, labels, marker }, look) => {
  const mark = hidden(marker);
  const found = look && [...host.issues.values()].findLast((issue) => issue.body.includes(mark));
  if (found) return ok({ number: found.number, url: found.url, at: found.createdAt }, true);
  const opened = host.openIssue({ title, body: `${body}\n${mark}`, labels }, BOT);
  host.log.approve(opened.number, { title, body });
  return ok({ number: opened.number, url: opened.url, at: opened.createdAt });
};

const createPR: Write<'createPR'> = (host, _number, { head, base, title, body, marker }, look) => {
  const mark = hidden(marker);
  const earlier = look && host.pullsOf(head).findLast((pull) => pull.body.includes(mark));
  const found = earlier || host.openPullsOf(head)[0];
  if (found && !host.isOwn(found)) return refused(422);
  if (found) return ok({ number: found.number, url: found.url, sha: found.headSha }, true);
  if (!host.branches.has(head)) return refused(422);
  const pull = host.openPull({ title, body: `${body}\n${mark}`, headRef: head, baseRef: base }, BOT);
  return ok({ number: pull.number, url: pull.url, sha: pull.headSha });
};

const mergePR: Write<'mergePR'> = (host, _number, { prNumber, expectedHeadSha }) => {
  const pull = host.pulls.get(prNumber);
  if (!pull) return refused(404);
  if (pull.merged) return ok({ number: prNumber, sha: pull.mergeCommitSha ?? '' }, true);
  if (pull.state === 'closed') return refused(405);
  if (pull.headSha !== expectedHeadSha) return { ...refused(409, 'not-ready'), headSha: pull.headSha } as ExecuteResult;
  host.endPull(pull, true, BOT);
  return ok({ number: prNumber, sha: pull.mergeCommitSha ?? '' });
};

const updateComment: Write<'updateComment'> = (host, number, { marker, body }) => {
  const text = `${body}\n${hidden(marker)}`;
  const found = host.comments.get(number)?.find((comment) => comment.body.includes(hidden(marker)));
  if (!found) return ok({ commentId: host.say(number, text, BOT).id });
  Object.assign(found, { body: text, updatedAt: host.at() });
  return ok({ commentId: found.id });
};

const closePR: Write<'closePR'> = (host, _number, { prNumber }) => {
  const pull = host.pulls.get(prNumber);
  if (!pull) return refused(404);
  host.endPull(pull, false, BOT);
  return ok();
};

/** Deleting its branch closes a pull request. */
const deleteBranch: Write<'deleteBranch'> = (host, _number, { branch }) => {
  for (const pull of host.openPullsOf(branch)) host.endPull(pull, false, BOT);
  host.branches.delete(branch);
  return ok();
};

const relabel = (host: HostState, number: number, change: Parameters<HostState['label']>[1]): ExecuteResult => {
  host.label(number, change, BOT);
  return ok();
};

/** Kinds that change nothing in the model. */
const said = (): ExecuteResult => ok();

const WRITES: { [T in ProjectionAction['type']]: Write<T> } = {
  addLabels: (host, number, { labels }) => relabel(host, number, { add: labels }),
  removeLabels: (host, number, { labels }) => relabel(host, number, { remove: labels }),
  swapLabels: (host, number, { add, remove }) => relabel(host, number, { add, remove }),
  closeIssue: (host, number) => {
    const closed = host.setOpen(number, false, BOT);
    const at = host.issues.get(number)?.closedAt;
    return ok(at ? { at } : null, !closed);
  },
  reopenIssue: (host, number) => ok(null, !host.setOpen(number, true, BOT)),
  createIssue,
  createPR,
  mergePR,
  updateComment,
  closePR,
  deleteBranch,
  postComment: said,
  linkSubIssue: said,
  assignIssue: said,
  updatePR: said,
  updateBranch: said,
  requestReview: said,
  submitReview: said,
  setCommitStatus: said,
};

/** Executes one write like the host. */
export const write = (host: HostState, issueNumber: number, action: ProjectionAction, look: boolean): ExecuteResult =>
  WRITES[action.type](host, issueNumber, action as never, look);

/** The requested status comment, without its marker. */
export const statusCommentOn = (host: HostState, number: number): string | undefined =>
  host.comments
    .get(number)
    ?.find((comment) => comment.body.includes(hidden('status')))
    ?.body.replace(`\n${hidden('status')}`, '');
