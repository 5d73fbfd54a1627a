import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { formatSum } from '@pipeline/web/format/money.ts';
import { formatCompact, formatCount, formatPercent } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Bars } from '../../charts/bars.tsx';
import { Panel } from '../../page/panel.tsx';
import { type Window, windowOf } from './windows.ts';

const HEAD = [
  'Model',
  'Cost',
  'Share',
  'Invocations',
  'Turn limit hit',
  'No progress',
  'Tokens in',
  'Tokens out',
  'Cache read',
  'Cache written',
];

/** Cost, tokens and outcome of each model in the window. */
export function ModelsPanel({ query, window }: { query: UseQueryResult<Reply<'costByModel'>>; window: Window }) {
  const models = query.data?.models ?? [];
  return (
    <Panel
      title={`Models, ${windowOf(window).label.toLowerCase()}`}
      metrics={['model_spend_share', 'max_turns_rate', 'no_progress_rate']}
      query={query}
      height={160}
    >
      {() =>
        models.length === 0 ? (
          <EmptyNote title="No invocation was reported in this window." />
        ) : (
          <div className={layout.stack}>
            <Bars
              label="Cost by model"
              figures="adaptive"
              bars={models.map(({ model, provider, usd, unreportedCosts, sharePct }) => ({
                key: `${provider} ${model}`,
                label: <span title={provider}>{model}</span>,
                parts: [{ name: 'USD', value: usd, colour: '--accent' }],
                figure: `${formatSum(usd, unreportedCosts)} · ${formatPercent(sharePct)}`,
              }))}
            />
            <FiguresTable
              caption={`Models, in total ${formatSum(query.data?.totalUsd ?? 0, query.data?.totalUnreportedCosts ?? 0)}`}
              head={HEAD}
              rows={models.map((each) => [
                `${each.model} (${each.provider})`,
                formatSum(each.usd, each.unreportedCosts),
                formatPercent(each.sharePct),
                formatCount(each.invocations),
                formatPercent(each.maxTurnsRate),
                formatPercent(each.noProgressRate),
                formatCompact(each.inputTokens),
                formatCompact(each.outputTokens),
                formatCompact(each.cacheReadTokens),
                formatCompact(each.cacheWriteTokens),
              ])}
            />
          </div>
        )
      }
    </Panel>
  );
}
