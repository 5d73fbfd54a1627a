import { optional } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { formatCount } from '@pipeline/web/format/number.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { formatShort } from '@pipeline/web/format/time.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { type Preferences, preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { useQuery } from '@tanstack/react-query';
import { startAction } from '../../actions/perform.ts';
import { type Finding, REPAIRS, repairPlan } from '../../actions/repair-actions.ts';
import { read } from '../../api/query.ts';
import { IssueLink } from '../../navigation/issue-link.tsx';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './consistency.module.css';

type Kind = Finding['kind'];
const KINDS = Object.keys(REPAIRS) as Kind[];
const FIELDS = { kind: optional(KINDS) };
const POLL_MS = 10_000;

const NAMES: Readonly<Record<Kind, string>> = {
  stale_blocked: 'outdated block',
  stale_subtask_edge: 'outdated subtask',
  orphan_missing_from_pg: 'missing in the store',
  si_linkage_gap: 'open self-improvement record',
  label_drift: 'different labels',
  orphan_dependency_edge: 'dependency on an unknown issue',
};

/** Meaning of each kind of finding, in a sentence about both sides. */
const MEANINGS: Readonly<Record<Kind, string>> = {
  stale_blocked: 'The store says blocked, but no open dependency holds the issue.',
  stale_subtask_edge: 'The epic is done, but its subtasks still count as open.',
  orphan_missing_from_pg: 'The host has an open issue of which the store has no record.',
  si_linkage_gap: 'The issue is done, but its self-improvement record is not completed.',
  label_drift: 'The labels on the host disagree with the store. The monitor repairs them by itself.',
  orphan_dependency_edge: 'A dependency names an issue of which the store has no record.',
};

/** Page of the contradictions between the store and the host. */
export default function ConsistencyPage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const counts = useQuery(read('consistencyCounts', {}, POLL_MS));
  const findings = useQuery(read('listConsistencyFindings', { query: { limit: 500 } }, POLL_MS));
  const shown = (findings.data?.items ?? []).filter(
    ({ kind, repoOwner, repoName }) =>
      (values.kind === '' || kind === values.kind) && (repo === undefined || `${repoOwner}/${repoName}` === repo),
  );
  return (
    <Page title="Consistency" rejected={rejected}>
      <div className={layout.stack}>
        <Panel title="By kind" metrics={KINDS} query={counts} height={60}>
          {() => (
            <div className={layout.row} role="toolbar" aria-label="Kind of finding">
              <KindButton
                name="All"
                count={counts.data?.total}
                isChosen={values.kind === ''}
                onPress={() => set({ kind: '' })}
              />
              {KINDS.map((kind) => (
                <KindButton
                  key={kind}
                  name={NAMES[kind]}
                  count={counts.data?.byKind[kind]}
                  isChosen={values.kind === kind}
                  onPress={() => set({ kind })}
                />
              ))}
            </div>
          )}
        </Panel>
        <Panel title="Findings" query={findings} polledAt={findings.data?.polledAt} height={300}>
          {() =>
            shown.length === 0 ? (
              <EmptyNote tone="good" title="No contradiction was found in the last scan." />
            ) : (
              <ul className={styles.list}>
                {shown.map((finding) => (
                  <FindingLine key={finding.id} finding={finding} />
                ))}
              </ul>
            )
          }
        </Panel>
      </div>
    </Page>
  );
}

interface KindButtonProps {
  name: string;
  count: number | undefined;
  isChosen: boolean;
  onPress: () => void;
}

function KindButton({ name, count, isChosen, onPress }: KindButtonProps) {
  return (
    <Button kind={isChosen ? 'primary' : 'plain'} aria-pressed={isChosen} onPress={onPress}>
      {name} {formatCount(count)}
    </Button>
  );
}

function FindingLine({ finding }: { finding: Finding }) {
  const { kind, repoOwner, repoName, issueNumber, detail } = finding;
  const { zone } = useSignal(preferences);
  const plan = repairPlan(finding);
  const repo = `${repoOwner}/${repoName}`;
  return (
    <li className={styles.line}>
      <div>
        <p className={styles.head}>
          {issueNumber === null ? repo : <IssueLink repo={repo} issueNumber={issueNumber} />}
          <span title={kind}>{NAMES[kind]}</span>
        </p>
        <p className={styles.meaning}>{MEANINGS[kind]}</p>
        <p className={styles.detail}>{detailText(detail, zone)}</p>
      </div>
      {plan && <Button onPress={() => startAction(plan)}>{plan.verb.replace(/ of$/, '')} …</Button>}
    </li>
  );
}

/** Returns the facts of a finding that are texts, numbers or lists of them. */
const detailText = (detail: Finding['detail'], zone: Preferences['zone']): string =>
  Object.entries(detail)
    .filter(([name, value]) => name !== 'title' && value !== null && !isRecord(value) && value !== '')
    .map(([name, value]) => `${inWords(name.replaceAll(/([A-Z])/g, ' $1').toLowerCase())}: ${valueText(value, zone)}`)
    .join(' · ');

const isRecord = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);

function valueText(value: unknown, zone: Preferences['zone']): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' && TIME.test(value) ? formatShort(Date.parse(value), zone) : String(value);
}

const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]{8,15}Z$/;
