import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { formatSum, formatUsd } from '@pipeline/web/format/money.ts';
import { formatCount, plural } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Bars } from '../../charts/bars.tsx';
import { Panel } from '../../page/panel.tsx';
import { WINDOWS, type Window, windowOf } from './windows.ts';

type Summary = UseQueryResult<Reply<'pipelineCostSummary'>>;

/** Cost of each repo in the chosen window, the highest first. */
export function ReposCostPanel({ query, window }: { query: Summary; window: Window }) {
  const { field, unreported, label } = windowOf(window);
  const repos = (query.data?.byRepo ?? []).toSorted((a, b) => b[field] - a[field]);
  return (
    <Panel
      title={`Repositories, ${label.toLowerCase()}`}
      metrics={['cost']}
      query={query}
      height={120}
      table={() => (
        <FiguresTable
          caption="Cost by repository"
          head={['Repository', ...WINDOWS.map((each) => each.label)]}
          rows={repos.map((repo) => [
            repo.repo,
            ...WINDOWS.map((each) => formatSum(repo[each.field], repo[each.unreported])),
          ])}
        />
      )}
    >
      {() =>
        repos.every((repo) => repo[field] === 0 && repo[unreported] === 0) ? (
          <EmptyNote title="No cost was reported in this window." />
        ) : (
          <Bars
            label={`Cost by repository, ${label}`}
            figures="adaptive"
            bars={repos.map((repo) => ({
              key: repo.repo,
              label: repo.repo,
              parts: [{ name: 'USD', value: repo[field], colour: '--accent' }],
              figure: formatSum(repo[field], repo[unreported]),
            }))}
          />
        )
      }
    </Panel>
  );
}

/** Cost of each agent over all time, the highest first. */
export function AgentsCostPanel({ query }: { query: Summary }) {
  const agents = (query.data?.byAgent ?? []).toSorted((a, b) => b.usd - a.usd);
  return (
    <Panel
      title="Agents, all time"
      query={query}
      height={160}
      table={() => (
        <FiguresTable
          caption="Cost by agent"
          head={['Agent', 'Cost', 'Invocations', 'Per reported invocation']}
          rows={agents.map(({ agent, usd, invocations, unreportedCosts }) => [
            agent,
            formatSum(usd, unreportedCosts),
            formatCount(invocations),
            invocations === unreportedCosts ? '–' : formatUsd(usd / (invocations - unreportedCosts)),
          ])}
        />
      )}
    >
      {() =>
        agents.length === 0 ? (
          <EmptyNote title="No agent has reported an invocation." />
        ) : (
          <Bars
            label="Cost by agent, all time"
            figures="adaptive"
            bars={agents.map(({ agent, usd, invocations, unreportedCosts }) => ({
              key: agent,
              label: agent,
              parts: [{ name: 'USD', value: usd, colour: '--accent' }],
              figure: `${formatSum(usd, unreportedCosts)} · ${plural(invocations, 'run')}`,
            }))}
          />
        )
      }
    </Panel>
  );
}
