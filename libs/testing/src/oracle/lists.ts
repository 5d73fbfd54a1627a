import { normalizeError, type PageRequest } from '@pipeline/domain';
import { byText, iso } from './names.ts';
import type { Rows } from './rows.ts';

/** A page of a list of which everything is known. */
function pageOf<T>(all: readonly T[], { limit, offset }: PageRequest) {
  const items = all.slice(offset, offset + limit);
  return { items, page: { total: all.length, limit, offset, hasMore: offset + items.length < all.length } };
}

const placesOf = ({ repos }: Rows) => {
  const byId = new Map(repos.map((repo) => [repo.id, repo]));
  return (id: number) => ({ owner: byId.get(id)?.owner ?? '', name: byId.get(id)?.name ?? '' });
};

export function deadLettersOf(rows: Rows, page: PageRequest) {
  const place = placesOf(rows);
  const open = rows.deadLetters
    .filter(({ isResolved }) => !isResolved)
    .sort((a, b) => b.at - a.at || byText(a.id, b.id))
    .map(({ id, repoId, issue, from, to, agent, error, at }) => ({
      id,
      repoOwner: place(repoId).owner,
      repoName: place(repoId).name,
      issueNumber: issue,
      fromState: from,
      targetState: to,
      agentName: agent,
      error,
      createdAt: iso(at),
    }));
  return pageOf(open, page);
}

/** The newest writes that are in one of these states. */
export function projectionsOf(rows: Rows, statuses: readonly string[]) {
  const place = placesOf(rows);
  return rows.writes
    .filter(({ status }) => statuses.includes(status))
    .sort((a, b) => b.id - a.id)
    .slice(0, 500)
    .map(({ id, repoId, issue, status, error, at }) => ({
      id,
      repoOwner: place(repoId).owner,
      repoName: place(repoId).name,
      issueNumber: issue,
      status,
      error,
      createdAt: iso(at),
    }));
}

export function blockedIssuesOf(rows: Rows) {
  const place = placesOf(rows);
  const slug = (id: number) => `${place(id).owner}/${place(id).name}`.toLowerCase();
  const blocked = rows.issues
    .filter(({ isBlocked, state }) => isBlocked && state !== 'done')
    .sort((a, b) => a.stateAt - b.stateAt || byText(slug(a.repoId), slug(b.repoId)) || a.number - b.number);
  const issues = blocked.slice(0, 5_000).map((issue) => ({
    owner: place(issue.repoId).owner,
    repo: place(issue.repoId).name,
    issueNumber: issue.number,
    title: issue.title,
    state: issue.state,
    blockReason: issue.blockReason,
    blockedSince: iso(issue.stateAt),
    lastError: issue.lastError,
    errorPattern: issue.lastError === null ? null : normalizeError(issue.lastError),
  }));
  const groups = Map.groupBy(
    issues.filter(({ errorPattern }) => errorPattern !== null),
    ({ errorPattern }) => errorPattern ?? '',
  );
  const patterns = [...groups].map(([pattern, own]) => ({
    pattern,
    count: own.length,
    issues: own.map(({ owner, repo, issueNumber }) => ({ owner, repo, issueNumber })),
  }));
  return {
    issues,
    patterns: patterns.sort((a, b) => b.count - a.count || byText(a.pattern, b.pattern)),
    total: blocked.length,
  };
}

export function eventsOf(
  rows: Rows,
  filter: { issue?: number | undefined; type?: string | undefined },
  page: PageRequest,
) {
  const place = placesOf(rows);
  const found = rows.events.filter(
    ({ issue, type }) =>
      (filter.issue === undefined || issue === filter.issue) && (filter.type === undefined || type === filter.type),
  );
  const { items, page: said } = pageOf(found, page);
  return {
    items: items.map(({ id, repoId, issue, type, at }) => ({
      id,
      repoOwner: place(repoId).owner,
      repoName: place(repoId).name,
      issueNumber: issue,
      eventType: type,
      createdAt: iso(at),
    })),
    page: said,
  };
}

/** The newest findings of one repo. */
export function findingsOf(
  { findings }: Rows,
  filter: { status?: string; severity?: string; category?: string },
  page: PageRequest,
) {
  const found = findings
    .filter((one) => Object.entries(filter).every(([name, value]) => one[name as 'status'] === value))
    .sort((a, b) => b.at - a.at || byText(a.id, b.id))
    .map(({ id, status, severity, category, at }) => ({ id, status, severity, category, createdAt: iso(at) }));
  return pageOf(found, page);
}
