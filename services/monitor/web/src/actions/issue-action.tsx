import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import type { ActionPhase } from './action.ts';
import styles from './issue-action.module.css';
import { actionOn, records } from './records.ts';

const WORDS: Readonly<Record<ActionPhase, string>> = {
  sent: 'sent',
  accepted: 'accepted',
  'on-host': 'on the host',
  failed: 'failed',
};

/** Result of the latest action on an issue, beside its row. */
export function IssueAction({ repo, issueNumber }: { repo: string; issueNumber: number }) {
  const record = actionOn(useSignal(records), { repo, issueNumber });
  if (!record) return null;
  return (
    <span className={record.phase === 'failed' ? styles.failed : styles.mark} title={`${record.title}: ${record.text}`}>
      {WORDS[record.phase]}
      {record.phase === 'failed' && `: ${record.text}`}
    </span>
  );
}
