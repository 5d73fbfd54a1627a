import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { formatCount, formatPercent, formatSigned } from '@pipeline/web/format/number.ts';
import { Facts } from '@pipeline/web/page/facts.tsx';
import { useQuery } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { Panel } from '../../page/panel.tsx';
import { type OfRepo, overviewReads } from './overview-reads.ts';

/** Merges without a person, compared with the week before, and what was finished today. */
export function AutonomyPanel({ repo }: OfRepo) {
  const reads = overviewReads(repo);
  const autonomy = useQuery(reads.autonomy);
  const throughput = useQuery(reads.throughput);
  const data = autonomy.data;
  return (
    <Panel
      title="Autonomy, 7 days"
      metrics={['autonomous_merge_rate', 'throughput']}
      query={autonomy}
      height={90}
      table={() => (
        <FiguresTable
          caption="Merged issues by day"
          head={['Day (UTC)', 'Merged', 'Autonomous']}
          rows={(data?.byDay ?? []).map(({ date, merged, autonomous }) => [date, merged, autonomous])}
        />
      )}
    >
      {() =>
        data && (
          <Facts
            facts={[
              { name: 'Autonomous merges', value: data.mergedIssues === 0 ? '–' : formatPercent(data.ratePct) },
              { name: 'Against the week before', value: change(data.weekOverWeek) },
              {
                name: 'Merged by day',
                value: (
                  <Sparkline
                    values={data.byDay.map(({ merged }) => merged)}
                    summary={`Merged by day: ${data.byDay.map(({ merged }) => merged).join(', ')}`}
                  />
                ),
              },
              { name: 'Done since 00:00 UTC', value: formatCount(throughput.data?.count) },
            ]}
          />
        )
      }
    </Panel>
  );
}

/** A dash where a week has no merges: its rate of 0 is none to compare with. */
const change = ({ current, previous, deltaPp }: Reply<'autonomy'>['weekOverWeek']): string =>
  current.mergedIssues === 0 || previous.mergedIssues === 0 ? '–' : `${formatSigned(deltaPp)} pp`;
