import { formatUsd } from '@pipeline/web/format/money.ts';
import { plural } from '@pipeline/web/format/number.ts';
import { labelOf } from '@pipeline/web/states/states.ts';
import type { Reply } from '../../api/types.ts';
import { kpiLabel } from '../regressions/kpis.ts';
import { statesByRepo } from './states-by-repo.ts';

type Digest = Reply<'readDigest'>['digest'];

/** Texts of agents and hosts stay one line of text, whatever markup they hold. */
const plain = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>|#]/g, '\\$&');

const section = (title: string, lines: readonly string[], none: string): string[] => [
  '',
  `## ${title}`,
  '',
  ...(lines.length === 0 ? [none] : lines.map((line) => `- ${line}`)),
];

/** Returns the digest as Markdown, for a chat or a report. */
export function digestMarkdown(digest: Digest): string {
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
