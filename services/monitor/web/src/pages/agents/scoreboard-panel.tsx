import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { formatMinutes } from '@pipeline/web/format/duration.ts';
import { formatCount, formatPercent } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import { costText } from './cost-text.ts';

const METRICS = [
  'agent_merged_issues',
  'agent_first_pass_review',
  'agent_first_pass_ci',
  'agent_reverts',
  'agent_wall_time',
  'agent_cost_per_merge',
];
const HEAD = [
  'Agent and model',
  'Issues merged',
  'First-pass review',
  'First-pass CI',
  'Reverted in 14 days',
  'Wall time, median',
  'Cost per merged pull request',
];

const NOTHING = {
  all: 'No issue was merged in this window after work of an agent.',
  compared: 'No compared task led to a merge in this window. The setting compare of a repository divides its tasks.',
};

const nameOf = ({ agent, model }: Reply<'agentScoreboard'>['items'][number]): string =>
  `${agent ?? 'agent not reported'}, ${model ?? 'model not reported'}`;

interface ScoreboardPanelProps {
  query: UseQueryResult<Reply<'agentScoreboard'>>;
  tasks: keyof typeof NOTHING;
}

/** Merged issues of each agent and model, with their quality, time and cost. */
export function ScoreboardPanel({ query, tasks }: ScoreboardPanelProps) {
  const items = query.data?.items ?? [];
  return (
    <Panel title="Scoreboard" metrics={METRICS} query={query} height={200}>
      {() =>
        items.length === 0 ? (
          <EmptyNote title={NOTHING[tasks]} />
        ) : (
          <div className={layout.stack}>
            <FiguresTable
              caption="Agents and models by merged issues"
              head={HEAD}
              rows={items.map((item) => [
                nameOf(item),
                formatCount(item.mergedIssues),
                formatPercent(item.firstPassReviewPct),
                `${formatPercent(item.firstPassCiPct)} of ${formatCount(item.checkedIssues)}`,
                formatCount(item.reverts),
                formatMinutes(item.wallTimeMinutes),
                costText(item),
              ])}
            />
            <p className={layout.muted}>
              An issue belongs to the agent that first submitted it. Its cost is that of its development; issues with an
              unreported cost are not in the mean. Few issues say little about an agent.
            </p>
          </div>
        )
      }
    </Panel>
  );
}
