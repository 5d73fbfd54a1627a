import { answered } from './errors.ts';
import { commentOnce } from './execute-comments.ts';
import { contentMarker, hasMarker, withMarker } from './marker.ts';
import { done, type Executor, repeated, type Target } from './target.ts';

/**
 * Closes before it comments. A later attempt then finds the issue closed and looks for the comment, so a limit between
 * the two steps cannot make two comments.
 */
export const closeIssue: Executor<'closeIssue'> = async (target, { reason, comment }) => {
  const issue = { ...target.at, issue_number: target.issueNumber };
  const { data } = await target.client.rest.issues.get(issue);
  const wasClosed = data.state === 'closed';
  const change = { ...issue, state: 'closed', state_reason: reason } as const;
  const closed = wasClosed ? data : (await target.client.rest.issues.update(change)).data;
  if (comment !== null) {
    const marker = contentMarker('close', target.issueNumber, reason, comment);
    await commentOnce(target, target.issueNumber, { body: comment, marker, look: wasClosed });
  }
  const created = closed.closed_at === null ? null : { at: closed.closed_at };
  return wasClosed ? repeated(created) : done(created);
};

export const reopenIssue: Executor<'reopenIssue'> = async (target) => {
  const issue = { ...target.at, issue_number: target.issueNumber };
  const { data } = await target.client.rest.issues.get(issue);
  if (data.state === 'open') return repeated();
  await target.client.rest.issues.update({ ...issue, state: 'open' });
  return done();
};

export const createIssue: Executor<'createIssue'> = async (target, { title, body, labels, marker }) => {
  const found = target.context.mayHaveHappened ? await findIssue(target, marker) : null;
  if (found) return repeated({ number: found.number, url: found.html_url, at: found.created_at });
  const text = withMarker(body, marker);
  const { data } = await target.client.rest.issues.create({ ...target.at, title, body: text, labels });
  return done({ number: data.number, url: data.html_url, at: data.created_at });
};

/** Up to ten pages: the newest 1,000 issues that we opened hold whatever an attempt of the last hours left. */
async function findIssue({ client, at, login }: Target, marker: string) {
  const query = { ...at, creator: await login(), state: 'all', sort: 'created', direction: 'desc' } as const;
  let pages = 0;
  for await (const { data } of client.paginate.iterator(client.rest.issues.listForRepo, { ...query, per_page: 100 })) {
    const found = data.find((issue) => !issue.pull_request && hasMarker(issue.body, marker));
    if (found) return found;
    pages += 1;
    if (pages === 10) break;
  }
  return null;
}

export const linkSubIssue: Executor<'linkSubIssue'> = async (target, { parentIssueNumber, childIssueNumber }) => {
  const { client, at } = target;
  const child = (await client.rest.issues.get({ ...at, issue_number: childIssueNumber })).data;
  const parent = { ...at, issue_number: parentIssueNumber };
  try {
    await client.rest.issues.addSubIssue({ ...parent, sub_issue_id: child.id });
    return done();
  } catch (error) {
    // The host refuses a second link of the same two with the words of any other bad link.
    if (!answered(error, 422)) throw error;
    const linked = await client.paginate(client.rest.issues.listSubIssues, { ...parent, per_page: 100 });
    if (linked.some((issue) => issue.id === child.id)) return repeated();
    throw error;
  }
};

export const assignIssue: Executor<'assignIssue'> = async (target, { assignees }) => {
  if (assignees.length === 0) return repeated();
  await target.client.rest.issues.addAssignees({ ...target.at, issue_number: target.issueNumber, assignees });
  return done();
};
