import { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { allows, requireRole } from '../access/roles.ts';
import { forbidden, invalid } from '../http/failure.ts';
import { numberParam, paginate, queryValue, readBody, repoOf, viewerOf } from '../http/request.ts';
import { renderEvent, renderIssue } from '../render/issue.ts';
import type { IssueRecord, RepoRecord, Sandbox, UserRecord } from '../state/model.ts';
import { change, timestamp } from '../state/sandbox.ts';
import { addEvent, addIssue, announce, issueOf, saveIssue, setAssignees, setLabels, setOpen } from './changes.ts';

export const labelNames = z.array(
  z.union([z.string().min(1), z.object({ name: z.string().min(1) }).transform((label) => label.name)]),
);
const NewIssue = z.object({
  title: z.union([z.string().min(1), z.number().transform(String)]),
  body: z.string().max(65_536).nullish(),
  labels: labelNames.default([]),
  assignees: z.array(z.string()).nullish(),
});
const EditIssue = z.object({
  title: z.union([z.string().min(1), z.number().transform(String)]).optional(),
  body: z.string().max(65_536).nullish(),
  state: z.enum(['open', 'closed']).optional(),
  state_reason: z.enum(['completed', 'not_planned', 'duplicate', 'reopened']).nullish(),
  labels: labelNames.optional(),
  assignees: z.array(z.string()).optional(),
});

/** Issues: list, create, read, edit, assignees. */
export function issueRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  router.get('/issues', (req, res) => {
    const repo = repoOf(res);
    const found = paginate(sandbox, req, res, select(sandbox, repo, req));
    res.json(found.map((issue) => renderIssue(sandbox, repo, issue)));
  });

  router.post('/issues', (req, res) => {
    const [repo, viewer] = [repoOf(res), viewerOf(res)];
    const fresh = readBody(NewIssue, req, 'Issue');
    // Who may not triage may open an issue; their labels and assignees are dropped silently.
    const triage = allows(repo, viewer.login, 'triage');
    const assignees = triage ? known(sandbox, fresh.assignees ?? []) : [];
    const created = change(sandbox, () => {
      const { title, body = null } = fresh;
      const by = viewer.login;
      const issue = addIssue(sandbox, repo, { title, body, labels: [], assignees: [], author: by, pull: null });
      announce(sandbox, repo, issue, { action: 'opened', by });
      const assigned = setAssignees(sandbox, repo, issue, { assignees, by });
      return triage ? setLabels(sandbox, repo, assigned, { labels: fresh.labels, by }) : assigned;
    });
    res.status(201).json(renderIssue(sandbox, repo, created));
  });

  router.get('/issues/:number', (req, res) => {
    const repo = repoOf(res);
    res.json(renderIssue(sandbox, repo, issueOf(sandbox, repo, numberParam(req, 'number'))));
  });

  router.get('/issues/:number/events', (req, res) => {
    const repo = repoOf(res);
    const { number } = issueOf(sandbox, repo, numberParam(req, 'number'));
    const events = sandbox.state.list('event', repo.id, number);
    res.json(paginate(sandbox, req, res, events).map((event) => renderEvent(sandbox, repo, event)));
  });

  router.patch('/issues/:number', (req, res) => {
    const repo = repoOf(res);
    const edit = readBody(EditIssue, req, 'Issue');
    const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
    requireEditor(repo, issue, viewerOf(res));
    res.json(
      renderIssue(
        sandbox,
        repo,
        change(sandbox, () => applyEdit(sandbox, repo, issue, { edit, by: viewerOf(res) })),
      ),
    );
  });

  const assign = (add: boolean) => (req: Request, res: Response) => {
    const repo = repoOf(res);
    const { assignees } = readBody(z.object({ assignees: z.array(z.string()) }), req, 'Issue');
    requireRole(repo, viewerOf(res).login, 'triage');
    const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
    const named = known(sandbox, assignees);
    const kept = issue.assignees.filter((login) => !named.includes(login));
    const saved = change(sandbox, () =>
      setAssignees(sandbox, repo, issue, {
        assignees: add ? [...issue.assignees, ...named.filter((login) => !issue.assignees.includes(login))] : kept,
        by: viewerOf(res).login,
      }),
    );
    res.status(add ? 201 : 200).json(renderIssue(sandbox, repo, saved));
  };
  router.post('/issues/:number/assignees', assign(true));
  router.delete('/issues/:number/assignees', assign(false));
  return router;
}

/** Authors edit their own issue, others need triage. */
export function requireEditor(repo: RepoRecord, issue: IssueRecord, viewer: UserRecord): void {
  if (issue.author === viewer.login && allows(repo, viewer.login, 'read')) return;
  requireRole(repo, viewer.login, 'triage');
}

type Edit = z.output<typeof EditIssue>;

export function applyEdit(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: IssueRecord,
  { edit, by: { login: by } }: { edit: Edit; by: UserRecord },
): IssueRecord {
  let saved = editText(sandbox, repo, issue, { edit, by });
  const { assignees } = edit;
  if (assignees) saved = setAssignees(sandbox, repo, saved, { assignees: known(sandbox, assignees), by });
  if (edit.labels) {
    if (!allows(repo, by, 'triage')) throw forbidden();
    saved = setLabels(sandbox, repo, saved, { labels: edit.labels, by });
  }
  if (edit.state === undefined) return saved;
  if (saved.pull?.mergedAt && edit.state === 'open')
    throw invalid('Issue', 'state', 'a merged pull request cannot be reopened');
  const reason = edit.state_reason ?? (edit.state === 'open' ? 'reopened' : 'completed');
  return setOpen(sandbox, repo, saved, { open: edit.state === 'open', reason, by });
}

function editText(sandbox: Sandbox, repo: RepoRecord, issue: IssueRecord, { edit, by }: { edit: Edit; by: string }) {
  const { title = issue.title } = edit;
  const body = edit.body === undefined ? issue.body : edit.body;
  if (title === issue.title && body === issue.body) return issue;
  const bodyEdit = body === issue.body ? {} : { bodyEdit: { at: timestamp(sandbox), editor: by } };
  const saved = saveIssue(sandbox, repo, { ...issue, title, body, ...bodyEdit });
  if (title !== issue.title) {
    addEvent(sandbox, repo, saved, { event: 'renamed', actor: by, rename: { from: issue.title, to: title } });
  }
  const changes = {
    ...(title === issue.title ? {} : { title: { from: issue.title } }),
    ...(body === issue.body ? {} : { body: { from: issue.body ?? '' } }),
  };
  announce(sandbox, repo, saved, { action: 'edited', by, extra: { changes } });
  return saved;
}

/** The host ignores assignees that it does not know. */
const known = (sandbox: Sandbox, logins: string[]): string[] => [
  ...new Set(logins.flatMap((login) => sandbox.state.findUser(login)?.login ?? [])),
];

/** Reads all issues of the repo; its cost grows with their number. */
function select(sandbox: Sandbox, repo: RepoRecord, req: Request): IssueRecord[] {
  const state = queryValue(req, 'state') ?? 'open';
  if (!['open', 'closed', 'all'].includes(state)) throw invalid('Issue', 'state');
  const since = sinceOf(req);
  const labels =
    queryValue(req, 'labels')
      ?.split(',')
      .map((name) => name.toLowerCase()) ?? [];
  const creator = queryValue(req, 'creator')?.toLowerCase();
  const assignee = queryValue(req, 'assignee')?.toLowerCase();
  const found = sandbox.state.list('issue', repo.id).filter((issue) => {
    const own = issue.labels.map((name) => name.toLowerCase());
    return (
      (state === 'all' || issue.state === state) &&
      (since === null || Date.parse(issue.updatedAt) >= since) &&
      labels.every((name) => own.includes(name)) &&
      (creator === undefined || issue.author.toLowerCase() === creator) &&
      (assignee === undefined || issue.assignees.some((login) => login.toLowerCase() === assignee))
    );
  });
  return sortIssues(found, queryValue(req, 'sort') ?? 'created', queryValue(req, 'direction') ?? 'desc');
}

/** @throws Failure 422 when `since` is no time. */
export function sinceOf(req: Request): number | null {
  const since = queryValue(req, 'since');
  if (since === undefined) return null;
  const at = Date.parse(since);
  if (Number.isNaN(at)) throw invalid('Issue', 'since', 'since must be an ISO 8601 time');
  return at;
}

const SORT_KEYS: Record<string, (issue: IssueRecord) => number> = {
  created: (issue) => Date.parse(issue.createdAt),
  updated: (issue) => Date.parse(issue.updatedAt),
  comments: (issue) => issue.comments,
};

export function sortIssues<T extends IssueRecord>(issues: T[], sort: string, direction: string): T[] {
  const key = SORT_KEYS[sort];
  if (!key) throw invalid('Issue', 'sort');
  const sign = direction === 'asc' ? 1 : -1;
  return issues.sort((a, b) => sign * (key(a) - key(b) || a.number - b.number));
}
