import { atMostEvery } from '@pipeline/web/timing/timers.ts';
import type { InfiniteData, QueryClient, QueryKey } from '@tanstack/react-query';
import { type CallableId, request } from '../api/request.ts';
import type { Reply, State } from '../api/types.ts';
import type { StreamEvent } from './events.ts';
import { newcomers } from './newcomers.ts';

/** Counts and lists are read again at most this often. */
const REREAD_MS = 3_000;
const REREAD_SLOWLY_MS = 30_000;
/**
 * Minimum time between two reads of one issue, which follow its events sooner, within a second of their commit: they
 * are few.
 */
const REREAD_ISSUE_MS = 500;
/** Rows that are read one by one after actions of people. */
const MOST_ROWS = 5;
/** Issues of a search by number; of one repo there is one, but several organisations may have the repo. */
const MOST_FOUND = 20;

/** Routes that are read again after an event of a type, in so far as a page shows them. */
const REREAD: Partial<Record<StreamEvent['type'], readonly CallableId[]>> = {
  'state-transition': ['readDashboard', 'queueDepth', 'pipelineTaskQueue', 'listBlockedIssues', 'listPipelineEvents'],
  'cost-update': ['pipelineCostSummary', 'costByModel'],
  'worker-status': ['workerFloor', 'listWorkers', 'queueDepth', 'pipelineTaskQueue'],
  alert: ['listAlerts', 'readDashboard'],
};

/** Figures over hours and days: one event hardly changes them, and reading them costs more. */
const REREAD_SLOWLY: readonly CallableId[] = ['stateTimeseries', 'cohortFunnel', 'throughput', 'autonomy'];

/** Routes that are read again after an action of a person that left its issue in its state. */
const AFTER_ACTION: readonly CallableId[] = [
  'readDashboard',
  'queueDepth',
  'pipelineTaskQueue',
  'listBlockedIssues',
  'listDeadLetters',
  'listProjections',
  'listConsistencyFindings',
  'listFindings',
  'listPipelineEvents',
  'listAudit',
];

/** Routes of one issue that an event of it makes out of date. */
const OF_ISSUE: readonly CallableId[] = [
  'explainIssueTo',
  'diagnoseIssue',
  'issueStatus',
  'issueEvents',
  'readTimeline',
  'validTransitions',
  'listIssueFindings',
  'listPlans',
  'issueArtefacts',
  'issueRetrospective',
];

type Issue = Reply<'searchIssues'>['items'][number];
type IssuePages = InfiniteData<Reply<'searchIssues'>>;

/** Returns a function that brings the cache in line with an event. */
export function cachePatcher(client: QueryClient): (event: StreamEvent) => void {
  const reread = rereader(client);
  const rereadRow = rowReader(client, () => reread(['searchIssues']));
  const rereadIssueOf = (issue: Named): void => rereadIssue(client, issue, (key) => reread(key, REREAD_ISSUE_MS));

  const follow: { [Type in StreamEvent['type']]?: (data: DataOf<Type>) => void } = {
    'state-transition': (data) => {
      const { repo, to, timestamp } = data;
      for (const id of REREAD_SLOWLY) reread([id], REREAD_SLOWLY_MS);
      patchIssue(client, data, (rows) => ({
        state: to,
        stateEnteredAt: timestamp,
        attempt: null,
        maxAttempts: null,
        slaMinutes: slaOf(rows, repo, to),
      }));
      moveCount(client, data);
      rereadIssueOf(data);
    },
    'cost-update': (data) => {
      patchIssue(client, data, () => ({ costUsd: data.costUsd }));
      rereadIssueOf(data);
    },
    'issue-status': (data) => {
      rereadIssueOf(data);
      if (data.actorType === 'agent') return patchIssue(client, data, () => ({ currentStatus: data.status }));
      for (const id of AFTER_ACTION) reread([id]);
      rereadRow(data);
    },
  };
  return ({ type, data }) => {
    for (const id of REREAD[type] ?? []) reread([id]);
    follow[type]?.(data as never);
  };
}

type DataOf<Type extends StreamEvent['type']> = Extract<StreamEvent, { type: Type }>['data'];

/** Returns a function that has a query read again, each at most once per interval. */
function rereader(client: QueryClient): (key: QueryKey, everyMs?: number) => void {
  const calls = new Map<string, () => void>();
  return (key, everyMs = REREAD_MS) => {
    const name = JSON.stringify(key);
    let call = calls.get(name);
    if (!call) {
      call = atMostEvery(everyMs, () => void client.invalidateQueries({ queryKey: key }));
      calls.set(name, call);
    }
    call();
  };
}

/**
 * Returns a function that has the row of an issue read again.
 * @param rereadAll instead, for the rows of a bulk action.
 */
function rowReader(client: QueryClient, rereadAll: () => void): (issue: Named) => void {
  const rows = new Map<string, Named>();
  const run = atMostEvery(REREAD_ISSUE_MS, () => {
    if (rows.size > MOST_ROWS) rereadAll();
    else for (const row of rows.values()) void readRow(client, row);
    rows.clear();
  });
  return (issue) => {
    rows.set(`${issue.repo}#${issue.issueNumber}`, issue);
    run();
  };
}

interface Named {
  repo: string;
  issueNumber: number;
}

/** Reads an issue again for its rows: an action of a person may have changed more of it than its event shows. */
async function readRow(client: QueryClient, { repo, issueNumber }: Named): Promise<void> {
  if (listsOfIssues(client).length === 0) return;
  const query = { repo, q: String(issueNumber), state: 'all', limit: MOST_FOUND } as const;
  const { items } = await request('searchIssues', { query }).catch(() => ({ items: [] }));
  for (const found of items) patchIssue(client, found, () => found);
}

/** The lists of issues that the page shows. */
const listsOfIssues = (client: QueryClient) =>
  client
    .getQueryCache()
    .findAll({ queryKey: ['searchIssues'], type: 'active', predicate: ({ queryKey }) => queryKey.at(-1) === 'pages' });

/** Changes the rows of an issue in all lists; an issue without a row is a newcomer. */
function patchIssue(
  client: QueryClient,
  { repo, issueNumber, tenant }: Named & { tenant?: string },
  change: (rows: readonly Issue[]) => Partial<Issue>,
): void {
  const isIt = (issue: Issue): boolean =>
    issue.issueNumber === issueNumber && issue.repo === repo && (tenant === undefined || issue.tenant === tenant);
  const lists = listsOfIssues(client);
  let isKnown = false;
  for (const { queryKey } of lists) {
    client.setQueryData<IssuePages>(queryKey, (data) => {
      if (!data?.pages?.some(({ items }) => items.some(isIt))) return data;
      isKnown = true;
      const changes = change(data.pages.flatMap(({ items }) => items));
      const pages = data.pages.map((page) => ({
        ...page,
        items: page.items.map((issue) => (isIt(issue) ? { ...issue, ...changes } : issue)),
      }));
      return { ...data, pages };
    });
  }
  const name = `${repo}#${issueNumber}`;
  if (!isKnown && lists.length > 0) newcomers.set(new Set([...newcomers.get(), name]));
}

/** The limit of a state in a repository, as another row has it; events do not carry it. */
const slaOf = (rows: readonly Issue[], repo: string, state: Issue['state']): number | null =>
  rows.find((row) => row.repo === repo && row.state === state)?.slaMinutes ?? null;

/** Moves an issue between the counts of all repos, and between those of its own at the end of its series. */
function moveCount(client: QueryClient, { repo, from, to }: { repo: string; from: State; to: State }): void {
  client.setQueriesData<Reply<'readDashboard'>>(
    { queryKey: ['readDashboard'] },
    (dashboard) => dashboard && { ...dashboard, pipelineSummary: moved(dashboard.pipelineSummary, from, to) },
  );
  const ofRepo = { queryKey: ['stateTimeseries', { query: { repo } }] };
  client.setQueriesData<Reply<'stateTimeseries'>>(ofRepo, (series) => {
    const last = series?.buckets.at(-1);
    if (!series || !last) return series;
    return { ...series, buckets: series.buckets.with(-1, { ...last, states: moved(last.states, from, to) }) };
  });
}

const moved = <Counts extends Record<State, number>>(counts: Counts, from: State, to: State): Counts => ({
  ...counts,
  [from]: Math.max(0, counts[from] - 1),
  [to]: counts[to] + 1,
});

/** Reads what is shown of the issue again: the keys that are in the cache, at most once per interval. */
function rereadIssue(client: QueryClient, { repo, issueNumber }: Named, reread: (key: QueryKey) => void): void {
  const [owner, name] = repo.split('/');
  for (const id of OF_ISSUE) {
    const key = [id, { params: { owner, repo: name, issue: String(issueNumber) } }];
    if (client.getQueryCache().findAll({ queryKey: key }).length > 0) reread(key);
  }
}
