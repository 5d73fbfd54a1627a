import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { Button } from '@pipeline/web/components/button.tsx';
import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { formatUsd } from '@pipeline/web/format/money.ts';
import { formatCount, plural } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import { labelOf } from '@pipeline/web/states/states.ts';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import { kpiLabel } from '../regressions/kpis.ts';
import { statesByRepo } from './states-by-repo.ts';

type Digest = Reply<'readDigest'>['digest'];

const POLL_MS = 60_000;

/** Page of what happened in a day. */
export default function DigestPage() {
  const query = useQuery(read('readDigest', {}, POLL_MS));
  const digest = query.data?.digest;
  return (
    <Page
      title={digest ? `Digest of ${digest.date}` : 'Digest'}
      actions={
        digest && (
          <div className={layout.row}>
            <span className={layout.muted}>Copy as Markdown</span>
            <CopyButton text={digestMarkdown(digest)} what="the digest as Markdown" />
            <Button onPress={() => window.print()}>Print</Button>
          </div>
        )
      }
    >
      <div className={layout.stack}>
        <Panel title="Spending and blocks" metrics={['blocked', 'cost']} query={query} height={60}>
          {() => digest && <Summary digest={digest} />}
        </Panel>
        <Panel title="Issues by state" query={query} height={160}>
          {() => digest && <States digest={digest} />}
        </Panel>
        <Panel title="Errors of the last 24 hours" query={query} height={160}>
          {() => digest && <Errors errors={digest.recentErrors} />}
        </Panel>
        <Panel title="Regressions" query={query} height={120}>
          {() => digest && <Regressions kpis={digest.topRegressedKpis} />}
        </Panel>
      </div>
    </Page>
  );
}

function Summary({ digest }: { digest: Digest }) {
  return (
    <NamedValues
      facts={[
        ['Cost, 24 hours', formatUsd(digest.dailyCostUsd)],
        ['Cost, 30 days', formatUsd(digest.monthlyCostUsd)],
        [
          'Blocked issues',
          <PageLink key="blocked" to="/trouble/blocked">
            {formatCount(digest.blockedCount)}
          </PageLink>,
        ],
      ]}
    />
  );
}

function States({ digest }: { digest: Digest }) {
  const repos = statesByRepo(digest.pipelineByState);
  if (repos.length === 0) return <EmptyNote title="There are no issues." />;
  return (
    <ul className={layout.list}>
      {repos.map(({ repo, states }) => (
        <li key={repo} className={layout.item}>
          <strong>{repo}</strong>
          <span>{states.map(({ state, count }) => `${labelOf(state)} ${formatCount(count)}`).join(' · ')}</span>
        </li>
      ))}
    </ul>
  );
}

function Errors({ errors }: { errors: Digest['recentErrors'] }) {
  if (errors.length === 0) return <EmptyNote tone="good" title="No run has failed in the last 24 hours" />;
  return (
    <ul className={layout.list}>
      {errors.map(({ fingerprint, message, count }) => (
        <li key={fingerprint} className={layout.item}>
          <div className={`${layout.line} ${layout.top}`}>
            <span className={layout.grow}>{message}</span>
            <span>{plural(count, 'run')}</span>
          </div>
          <p className={layout.row}>
            <code className={layout.muted}>{fingerprint}</code>
            <CopyButton text={fingerprint} what="fingerprint" />
          </p>
        </li>
      ))}
    </ul>
  );
}

function Regressions({ kpis }: { kpis: Digest['topRegressedKpis'] }) {
  if (kpis.length === 0) return <EmptyNote tone="good" title="No KPI is worse than its baseline" />;
  return (
    <>
      <FiguresTable
        caption="Largest first; block reasons of the last 7 days"
        head={['Repository', 'KPI', 'Magnitude', 'Issues now', 'Issues before', 'Block reasons']}
        rows={kpis.map((each) => [
          `${each.owner}/${each.repo}`,
          kpiLabel(each.kpi),
          each.magnitude,
          formatCount(each.currentSampleSize),
          formatCount(each.baselineSampleSize),
          each.topBlockReasons.map(({ blockReason, count }) => `${blockReason} ${count}`).join(', ') || '–',
        ])}
      />
      <PageLink to="/trouble/regressions">All KPIs</PageLink>
    </>
  );
}

/** Texts of agents and hosts stay one line of text, whatever markup they hold. */
const plain = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>|#]/g, '\\$&');

const section = (title: string, lines: readonly string[], none: string): string[] => [
  '',
  `## ${title}`,
  '',
  ...(lines.length === 0 ? [none] : lines.map((line) => `- ${line}`)),
];

/** Returns the digest as Markdown, for a chat or a report. */
function digestMarkdown(digest: Digest): string {
  const { date, blockedCount, dailyCostUsd, monthlyCostUsd, pipelineByState, recentErrors, topRegressedKpis } = digest;
  const states = statesByRepo(pipelineByState).map(
    ({ repo, states: counts }) =>
      `${plain(repo)}: ${counts.map(({ state, count }) => `${labelOf(state)} ${count}`).join(', ')}`,
  );
  const errors = recentErrors.map(({ message, count }) => `${plural(count, 'run')}: ${plain(message)}`);
  const kpis = topRegressedKpis.map(
    ({ owner, repo, kpi, magnitude }) => `${plain(`${owner}/${repo}`)}: ${kpiLabel(kpi)}, ${magnitude}`,
  );
  return [
    `# Pipeline digest, ${date}`,
    '',
    `- Cost: ${formatUsd(dailyCostUsd)} in 24 hours, ${formatUsd(monthlyCostUsd)} in 30 days`,
    `- Blocked: ${plural(blockedCount, 'issue')}`,
    ...section('Issues by state', states, 'There are no issues.'),
    ...section('Errors of the last 24 hours', errors, 'No run has failed.'),
    ...section('Regressions', kpis, 'No KPI is worse than its baseline.'),
    '',
  ].join('\n');
}
