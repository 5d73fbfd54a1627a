import { atMostEvery } from '@pipeline/web/timing/timers.ts';
import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { CallableId } from '../api/request.ts';
import type { Reply } from '../api/types.ts';
import type { StreamEvent } from './events.ts';
import { newcomers } from './newcomers.ts';

/** Counts and lists are read again at most this often. */
const REREAD_MS = 3_000;

/** Routes that are read again after an event of a type, in so far as a page shows them. */
const REREAD: Partial<Record<StreamEvent['type'], readonly CallableId[]>> = {
  'state-transition': [
    'readDashboard',
    'stateTimeseries',
    'cohortFunnel',
    'throughput',
    'autonomy',
    'queueDepth',
    'pipelineTaskQueue',
    'listBlockedIssues',
    'listPipelineEvents',
  ],
  'cost-update': ['pipelineCostSummary', 'costByModel'],
  'worker-status': ['workerFloor', 'listWorkers', 'queueDepth', 'pipelineTaskQueue'],
  alert: ['listAlerts', 'readDashboard'],
};

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
  const rereads = new Map<string, () => void>();
  const reread = (key: readonly unknown[]): void => {
    const name = JSON.stringify(key);
    let run = rereads.get(name);
    if (!run) {
      run = atMostEvery(REREAD_MS, () => void client.invalidateQueries({ queryKey: key }));
      rereads.set(name, run);
    }
    run();
  };
  return (event) => {
    for (const id of REREAD[event.type] ?? []) reread([id]);
    if (event.type === 'state-transition') {
      const { repo, issueNumber, to, timestamp } = event.data;
      patchIssue(client, event.data, (rows) => ({
        state: to,
        stateEnteredAt: timestamp,
        attempt: null,
        maxAttempts: null,
        slaMinutes: slaOf(rows, repo, to),
      }));
      moveCount(client, event.data);
      rereadIssue(client, repo, issueNumber, reread);
    } else if (event.type === 'cost-update') {
      const { repo, issueNumber, costUsd } = event.data;
      patchIssue(client, event.data, () => ({ costUsd }));
      rereadIssue(client, repo, issueNumber, reread);
    } else if (event.type === 'issue-status') {
      const { repo, issueNumber, status } = event.data;
      patchIssue(client, event.data, () => ({ currentStatus: status }));
      rereadIssue(client, repo, issueNumber, reread);
    }
  };
}

/** Changes the rows of an issue in all lists; an issue without a row is a newcomer. */
function patchIssue(
  client: QueryClient,
  { repo, issueNumber }: { repo: string; issueNumber: number },
  change: (rows: readonly Issue[]) => Partial<Issue>,
): void {
  const isIt = (issue: Issue): boolean => issue.issueNumber === issueNumber && issue.repo === repo;
  const lists = client
    .getQueryCache()
    .findAll({ queryKey: ['searchIssues'], type: 'active', predicate: ({ queryKey }) => queryKey.at(-1) === 'pages' });
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

function moveCount(client: QueryClient, { from, to }: { from: string; to: string }): void {
  client.setQueriesData<Reply<'readDashboard'>>({ queryKey: ['readDashboard'] }, (dashboard) => {
    if (!dashboard) return dashboard;
    const summary: Record<string, number> = { ...dashboard.pipelineSummary };
    summary[from] = Math.max(0, (summary[from] ?? 0) - 1);
    summary[to] = (summary[to] ?? 0) + 1;
    return { ...dashboard, pipelineSummary: summary as typeof dashboard.pipelineSummary };
  });
}

/** Reads what is shown of the issue again: the keys that are in the cache, at most once per interval. */
function rereadIssue(
  client: QueryClient,
  repo: string,
  number: number,
  reread: (key: readonly unknown[]) => void,
): void {
  const [owner, name] = repo.split('/');
  for (const id of OF_ISSUE) {
    const key = [id, { params: { owner, repo: name, issue: String(number) } }];
    if (client.getQueryCache().findAll({ queryKey: key }).length > 0) reread(key);
  }
}
