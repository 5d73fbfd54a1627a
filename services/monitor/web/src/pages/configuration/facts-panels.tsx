import { formatDuration } from '@pipeline/web/format/duration.ts';
import { formatUsd } from '@pipeline/web/format/money.ts';
import { formatCount, plural } from '@pipeline/web/format/number.ts';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';

type Query = UseQueryResult<Reply<'configSummary'>>;

const yesNo = (isOn: boolean): string => (isOn ? 'on' : 'off');
const seconds = (count: number): string => formatDuration(count * 1_000);
const limit = (usd: number | null): string => (usd === null ? 'no limit' : formatUsd(usd));

/** Settings in force; secrets are never among them. */
export function SettingsPanel({ query }: { query: Query }) {
  return (
    <Panel title="Settings in force" query={query} height={260}>
      {() => query.data && <Settings summary={query.data} />}
    </Panel>
  );
}

function Settings({ summary }: { summary: Reply<'configSummary'> }) {
  const { selfHealing, pollIntervals, costLimits, alertChannels, configSource } = summary;
  return (
    <div className={layout.stack}>
      <NamedValues
        facts={[
          [
            'Read from',
            configSource === 'default' ? 'no file: the built-in defaults' : <code key="path">{configSource}</code>,
          ],
        ]}
      />
      <h3>Self-healing</h3>
      <NamedValues
        facts={[
          ['Unblock transient failures', yesNo(selfHealing.autoUnblockTransient)],
          ['Automatic unblocks per issue', `at most ${formatCount(selfHealing.maxAutoUnblocksPerIssue)}`],
          ['Restart unhealthy agents', yesNo(selfHealing.autoRestart)],
          ['Restarts', `at most ${formatCount(selfHealing.maxRestartAttempts)}, by ${selfHealing.restartStrategy}`],
          ['Between restarts', seconds(selfHealing.restartCooldownSec)],
        ]}
      />
      <h3>Intervals</h3>
      <NamedValues
        facts={[
          ['Poll of the host', seconds(pollIntervals.sprintMaster)],
          ['Poll of the monitor', seconds(pollIntervals.monitor)],
          ['Metrics', `every ${plural(pollIntervals.metricsRefreshMin, 'minute')}`],
        ]}
      />
      <h3>Cost limits</h3>
      <NamedValues
        facts={[
          ['A day', limit(costLimits.dailyUsd)],
          ['An issue', limit(costLimits.perIssueUsd)],
        ]}
      />
      <h3>Alert channels</h3>
      {alertChannels.length === 0 ? (
        <p className={layout.muted}>None: alerts are shown in the dashboard only.</p>
      ) : (
        <ul>
          {alertChannels.map(({ type, configured }, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: channels have no identity but their place.
            <li key={place}>
              {type}:{' '}
              <span className={configured ? layout.good : layout.danger}>
                {configured ? 'ready' : 'its variables are not set'}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The database, and the health of the processes. */
export function DatabasePanel({ query }: { query: Query }) {
  const database = query.data?.database;
  return (
    <Panel title="Database and processes" query={query} height={200}>
      {() =>
        database && (
          <div className={layout.stack}>
            <NamedValues
              facts={[
                ['Database', database.host === null ? 'not configured' : `${database.host}:${database.port}`],
                [
                  'Connection',
                  <span key="connected" className={database.connected ? layout.good : layout.danger}>
                    {database.connected ? 'connected' : 'not connected'}
                  </span>,
                ],
                ['Pool', plural(database.poolSize, 'connection')],
              ]}
            />
            <ul className={layout.list}>
              {query.data?.agentHealth.map(({ name, status, uptime, lastError, consecutiveFailures }) => (
                <li key={name} className={layout.item}>
                  <div className={layout.row}>
                    <strong>{name}</strong>
                    <span className={status === 'healthy' ? layout.good : layout.danger}>{status}</span>
                    <span className={layout.muted}>
                      {uptime === null ? 'uptime not reported' : `up ${seconds(uptime)}`}
                      {consecutiveFailures > 0 && ` · ${plural(consecutiveFailures, 'failed check')}`}
                    </span>
                  </div>
                  {lastError && <p className={layout.danger}>{lastError}</p>}
                </li>
              ))}
            </ul>
          </div>
        )
      }
    </Panel>
  );
}
