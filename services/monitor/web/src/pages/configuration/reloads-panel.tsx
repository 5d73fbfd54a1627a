import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';

type Summary = Reply<'configSummary'>;
type Outcome = NonNullable<Summary['configReload']>;

const WORDS = {
  applied: ['applied', layout.good],
  partial: ['partly applied', layout.warning],
  unchanged: ['nothing had changed', layout.muted],
  failed: ['refused', layout.danger],
} as const satisfies Record<Outcome['status'], unknown>;

const TRIGGERS = {
  api: 'an API request',
  signal: 'SIGHUP',
  watch: 'another process',
} as const satisfies Record<Outcome['trigger'], string>;

/** The latest reload of every process, and what must be restarted. */
export function ReloadsPanel({ query }: { query: UseQueryResult<Summary> }) {
  const reloads = query.data?.agentConfigReload ?? [];
  const own = query.data?.configReload;
  const all = reloads.length === 0 && own ? [{ agentName: 'monitor', instance: '', outcome: own }] : reloads;
  return (
    <Panel title="Latest reloads" query={query} height={90}>
      {() =>
        all.length === 0 ? (
          <EmptyNote title="No process has reloaded its configuration since it started." />
        ) : (
          <ul className={layout.list}>
            {all.map(({ agentName, instance, outcome }) => (
              <li key={`${agentName} ${instance}`} className={layout.item}>
                <ReloadLine name={instance ? `${agentName}, ${instance}` : agentName} outcome={outcome} />
              </li>
            ))}
          </ul>
        )
      }
    </Panel>
  );
}

function ReloadLine({ name, outcome }: { name: string; outcome: Outcome }) {
  const [words, look] = WORDS[outcome.status];
  return (
    <>
      <div className={layout.line}>
        <strong>{name}</strong>
        <span className={look}>{words}</span>
        <span className={layout.muted}>
          <When at={outcome.at} />, by {TRIGGERS[outcome.trigger]}
        </span>
      </div>
      {outcome.appliedKeys.length > 0 && <p>Applied: {outcome.appliedKeys.join(', ')}</p>}
      {outcome.deferredKeys.length > 0 && (
        <p className={layout.warning}>
          Restart {name} to apply: {outcome.deferredKeys.join(', ')}
        </p>
      )}
      {outcome.error && (
        <p className={layout.danger}>
          {outcome.error} {outcome.errorCode && <code>{outcome.errorCode}</code>}
        </p>
      )}
    </>
  );
}
