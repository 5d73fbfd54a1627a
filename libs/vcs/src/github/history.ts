import type { HistoryEvent, HostHistory, RepoRef } from '@pipeline/domain';
import type { Client } from './client.ts';
import { paramsOf } from './repo-address.ts';

const KINDS: readonly string[] = ['labeled', 'unlabeled', 'closed', 'reopened', 'renamed'];

/** The REST API does not report edits of a body. */
const BODY_EDIT = `query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { databaseId issue(number: $number) { lastEditedAt editor { login } } }
}`;

interface BodyEdit {
  repository: {
    databaseId: number | null;
    issue: { lastEditedAt: string | null; editor: { login: string } | null } | null;
  } | null;
}

/** Reads the log of an issue, 100 entries a request, and the last edit of its body. */
export async function historyOf(client: Client, repo: RepoRef, number: number): Promise<HostHistory> {
  const { owner, name } = repo;
  const query = { ...paramsOf(repo), issue_number: number, per_page: 100 };
  const [found, edited] = await Promise.all([
    client.paginate(client.rest.issues.listEvents, query),
    client.graphql<BodyEdit>(BODY_EDIT, { owner, name, number }),
  ]);
  const events = found
    .filter(({ event }) => KINDS.includes(event))
    .map((entry) => ({
      id: entry.id,
      kind: entry.event as HistoryEvent['kind'],
      label: 'label' in entry ? (entry.label?.name ?? null) : null,
      actor: entry.actor?.login ?? null,
      at: entry.created_at,
    }));
  // It is asked by name, which another repository may have taken.
  const isSame = repo.hostId == null || edited.repository?.databaseId === repo.hostId;
  const issue = isSame ? edited.repository?.issue : null;
  const bodyEdit = issue?.lastEditedAt ? { at: issue.lastEditedAt, editor: issue.editor?.login ?? null } : null;
  return { events, bodyEdit };
}
