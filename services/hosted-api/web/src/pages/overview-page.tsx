import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatCount } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { CostFigure } from '@pipeline/web/page/cost-figure.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { Facts } from '@pipeline/web/page/facts.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../api/request.ts';
import type { Reply } from '../api/types.ts';
import { pollMs } from '../live/poll.ts';
import { RepoPage } from './repo-page.tsx';

type Overview = Reply<'browserOverview'>;

/** Is the pipeline of the repository healthy, and what needs a person? */
export default function OverviewPage() {
  return <RepoPage title="Overview">{(place) => <RepoOverview {...place} />}</RepoPage>;
}

function RepoOverview({ org, repo }: { org: string; repo: string }) {
  const query = useQuery(read('browserOverview', { query: { org, repo } }, pollMs));
  const overview = query.data;
  return (
    <Page title={`Overview of ${repo}`}>
      <div className={layout.stack}>
        <Panel title="Now" query={query} height={60}>
          {() => overview && <Facts facts={factsOf(overview)} />}
        </Panel>
        <Panel title="Blocked issues" query={query} height={120}>
          {() => overview && <Blocked issues={overview.blockedIssues} />}
        </Panel>
        <Panel title="Issues by state" query={query} height={200}>
          {() => overview && <States counts={overview.issuesByState} />}
        </Panel>
        <Panel title="Recent failures" query={query} height={120}>
          {() => overview && <Failures failures={overview.recentFailures} />}
        </Panel>
      </div>
    </Page>
  );
}

const factsOf = ({ openIssues, inFlightTasks, queueDepth, workerPool, cost }: Overview) => [
  { name: 'Open issues', value: formatCount(openIssues) },
  { name: 'Tasks running', value: formatCount(inFlightTasks.length) },
  { name: 'Tasks waiting', value: formatCount(queueDepth.total) },
  { name: 'Workers online', value: <WorkerCounts {...workerPool} /> },
  { name: 'Cost, 24 hours', value: <CostFigure usd={cost.last24hUsd} unreported={cost.last24hUnreportedCosts} /> },
];

function WorkerCounts({ total, offline }: Pick<Overview['workerPool'], 'total' | 'offline'>) {
  return (
    <>
      {formatCount(total - offline)}
      {offline > 0 && <span className={layout.muted}> ({formatCount(offline)} offline)</span>}
    </>
  );
}

function Blocked({ issues }: { issues: Overview['blockedIssues'] }) {
  if (issues.length === 0) return <EmptyNote tone="good" title="Nothing is blocked." />;
  return (
    <ul className={layout.list}>
      {issues.map(({ issueNumber, title, state, blockedSince }) => (
        <li key={issueNumber} className={layout.item}>
          <PageLink to={`/issues/${issueNumber}`}>
            #{issueNumber} <TitleText text={title} />
          </PageLink>
          <span className={layout.row}>
            <StateChip state={state} isBlocked />
            {blockedSince && (
              <span className={layout.muted}>
                for <When at={blockedSince} as="since" />
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

function States({ counts }: { counts: Overview['issuesByState'] }) {
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  if (rows.length === 0) return <EmptyNote title="No issue has entered the pipeline yet." />;
  return (
    <FiguresTable
      caption="Number of issues in each state"
      head={['State', 'Issues']}
      rows={rows.map(([state, count]) => [
        <PageLink key={state} to="/issues" search={{ state }}>
          <StateChip state={state} />
        </PageLink>,
        formatCount(count),
      ])}
    />
  );
}

function Failures({ failures }: { failures: Overview['recentFailures'] }) {
  if (failures.length === 0) return <EmptyNote tone="good" title="No run has failed." />;
  return (
    <ul className={layout.list}>
      {failures.map(({ issueNumber, agentName, errorMessage, finishedAt }) => (
        <li key={`${issueNumber} ${agentName} ${finishedAt}`} className={layout.item}>
          <span className={layout.row}>
            {issueNumber !== null && <PageLink to={`/issues/${issueNumber}`}>#{issueNumber}</PageLink>}
            {agentName}
            <span className={layout.muted}>
              <When at={finishedAt} />
            </span>
          </span>
          <p className={layout.text}>{errorMessage ?? 'No error message was reported.'}</p>
        </li>
      ))}
    </ul>
  );
}
