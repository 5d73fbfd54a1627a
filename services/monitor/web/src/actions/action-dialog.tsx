import { Button } from '@pipeline/web/components/button.tsx';
import { Dialog } from '@pipeline/web/components/dialog.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { useOutdated } from '../stream/use-live.ts';
import type { ActionPlan } from './action.ts';
import styles from './action-dialog.module.css';
import { openAction, perform } from './perform.ts';

/** Asks for what an action needs: consent, a reason, or the number of affected things. */
export default function ActionDialog({ plan }: { plan: ActionPlan }) {
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const [choice, setChoice] = useState(plan.choices?.options[0]?.value);
  const close = (): void => openAction.set(null);
  const isReady =
    (plan.reason !== 'required' || reason.trim() !== '') &&
    (plan.grade < 3 || typed.trim() === String(plan.count ?? 1));
  const confirm = (): void => {
    if (!isReady) return;
    close(); // at once: a second Enter finds no dialog
    void perform(plan, { reason: reason.trim() || undefined, choice });
  };
  return (
    <Dialog title={`${plan.verb} ${plan.object}`} role={plan.grade === 3 ? 'alertdialog' : 'dialog'} onClose={close}>
      <Form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          confirm();
        }}
      >
        <div className={styles.effect}>{plan.effect}</div>
        <OutdatedNote />
        {plan.choices && (
          <SelectField
            label={plan.choices.label}
            choices={plan.choices.options}
            value={choice ?? ''}
            onChange={setChoice}
          />
        )}
        {plan.reason !== 'none' && (
          <TextField
            label={plan.reason === 'required' ? 'Reason' : 'Reason (optional)'}
            hint="Kept word for word in the history."
            rows={3}
            maxLength={5_000}
            isRequired={plan.reason === 'required'}
            autoFocus={plan.reason === 'required'}
            value={reason}
            onChange={setReason}
          />
        )}
        {plan.grade === 3 && (
          <TextField
            label={`Type ${plan.count ?? 1} to confirm`}
            inputMode="numeric"
            autoComplete="off"
            autoFocus={plan.reason !== 'required'}
            value={typed}
            onChange={setTyped}
          />
        )}
        <footer className={styles.buttons}>
          <Button onPress={close}>Keep as it is</Button>
          <Button
            kind={plan.grade === 3 ? 'danger' : 'primary'}
            type="submit"
            isDisabled={!isReady}
            autoFocus={plan.grade === 1}
          >
            {plan.verb} {plan.object}
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

/** A decision on figures that may be out of date. */
function OutdatedNote() {
  if (!useOutdated()) return null;
  return <p className={styles.warning}>The page is not up to date: the stream of events is interrupted.</p>;
}
