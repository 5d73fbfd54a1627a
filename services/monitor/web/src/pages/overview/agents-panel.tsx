import { formatUsd } from '@pipeline/web/format/money.ts';
import { formatCount } from '@pipeline/web/format/number.ts';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './overview.module.css';
import { overviewReads } from './overview-reads.ts';

type Agent = Reply<'readDashboard'>['agents'][string];

/** Health of the monitor and of each agent. */
export function AgentsPanel() {
  const query = useQuery(overviewReads(undefined).dashboard);
  const agents = Object.values(query.data?.agents ?? {});
  return (
    <Panel title="Agents" metrics={['cost_today']} query={query} polledAt={query.data?.polledAt} height={180}>
      {() => (
        <ul className={styles.list}>
          {agents.map((agent) => (
            <AgentLine key={agent.agentName} agent={agent} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

const AgentLine = memo(function AgentLine({ agent }: { agent: Agent }) {
  const { agentName, health, reachable, inFlightIssues, costUsd } = agent;
  const isWell = health.status === 'healthy' && reachable;
  return (
    <li className={styles.line}>
      <Glyph name={isWell ? 'tick' : 'warning'} colour={isWell ? '--good' : '--danger'} />
      <span className={styles.main}>
        {agentName}
        {health.lastError && <span className={styles.muted}> {health.lastError}</span>}
      </span>
      <span className={isWell ? undefined : styles.critical}>{reachable ? health.status : 'not reachable'}</span>
      <span className={styles.muted}>
        {formatCount(inFlightIssues.length)} in flight
        {agentName !== 'monitor' && ` · ${costUsd === 0 ? 'no cost reported' : formatUsd(costUsd)} today`}
      </span>
    </li>
  );
});
