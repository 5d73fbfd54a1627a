import { queryClient } from '@pipeline/web/api/query-client.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import type { ActionPhase, ActionRecord } from './action.ts';
import styles from './activity.module.css';
import { dismissRecord, records, updateRecord } from './records.ts';

const PHASES: Readonly<Record<ActionPhase, string>> = {
  sent: 'Sent',
  accepted: 'Accepted',
  'on-host': 'On the host',
  failed: 'Failed',
};

/** List of the latest actions with their results; a failure stays until it is dismissed. */
export function Activity() {
  const all = useSignal(records);
  return (
    <section className={styles.activity} aria-label="Actions" aria-live="polite">
      {all.map((record) => (
        <Entry key={record.id} record={record} />
      ))}
    </section>
  );
}

function Entry({ record }: { record: ActionRecord }) {
  const { id, title, phase, text, code, progress, stop, undo } = record;
  const undoNow = (): void => {
    updateRecord(id, { undo: undefined, phase: 'sent' });
    void undo?.()
      .then(() => updateRecord(id, { phase: 'accepted', text: 'undone' }))
      .catch((error: Error) => updateRecord(id, { phase: 'failed', text: error.message }))
      .finally(() => void queryClient.invalidateQueries());
  };
  return (
    <div className={`${styles.entry} ${phase === 'failed' ? styles.failed : ''}`}>
      <p className={styles.title}>{title}</p>
      <p className={styles.text}>
        {PHASES[phase]}
        {progress && phase === 'sent' ? `: ${progress.done} of ${progress.total}` : ''}
        {phase !== 'sent' && `: ${text}`} {code && <code>{code}</code>}
      </p>
      {stop && phase === 'sent' && (
        <Button
          onPress={() => {
            stop();
            updateRecord(id, { stop: undefined });
          }}
        >
          Stop
        </Button>
      )}
      {undo && <Button onPress={undoNow}>Undo</Button>}
      {phase !== 'sent' && (
        <Button kind="quiet" glyph="close" aria-label={`Dismiss ${title}`} onPress={() => dismissRecord(id)} />
      )}
    </div>
  );
}
