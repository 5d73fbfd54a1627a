import { Button } from '@pipeline/web/components/button.tsx';
import { Dialog } from '@pipeline/web/components/dialog.tsx';
import type { ReactNode } from 'react';
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

/** An action whose input needs more fields than a reason. It closes when it is sent, so it cannot be sent twice. */
export function FormDialog({ plan, isReady, onClose, children }: FormDialogProps) {
  const title = `${plan.verb} ${plan.object}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isReady) return;
          onClose();
          void perform({ ...plan, grade: 1, reason: 'optional' }, { reason: undefined, choice: undefined });
        }}
      >
        <div className={styles.effect}>{plan.effect}</div>
        {children}
        <footer className={styles.buttons}>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isDisabled={!isReady}>
            {title}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
