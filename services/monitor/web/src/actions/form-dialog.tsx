import { Button } from '@pipeline/web/components/button.tsx';
import { Dialog } from '@pipeline/web/components/dialog.tsx';
import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import type { ActionPlan } from './action.ts';
import styles from './action-dialog.module.css';
import { perform } from './perform.ts';

interface FormDialogProps {
  /** The action that the form sends; its verb and object name the dialog and its button. */
  plan: Pick<ActionPlan, 'verb' | 'object' | 'effect'> & { run: () => Promise<string> };
  isReady: boolean;
  onClose: () => void;
  children: ReactNode;
}

/**
 * An action whose input needs more fields than a reason. It closes when the API has accepted it; what was typed stays
 * when the API refuses it or the session has ended.
 */
export function FormDialog({ plan, isReady, onClose, children }: FormDialogProps) {
  const title = `${plan.verb} ${plan.object}`;
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const send = async (): Promise<void> => {
    setSending(true);
    const refusal = await perform({ ...plan, grade: 1, reason: 'optional' }, { reason: undefined, choice: undefined });
    setSending(false);
    setFailure(refusal);
    if (refusal === null) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isSending) void send();
        }}
      >
        <div className={styles.effect}>{plan.effect}</div>
        {children}
        {failure !== null && (
          <p role="alert" className={styles.warning}>
            Not stored: {failure}
          </p>
        )}
        <footer className={styles.buttons}>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isDisabled={!isReady || isSending}>
            {title}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
