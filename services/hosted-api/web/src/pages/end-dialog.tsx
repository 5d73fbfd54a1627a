import { Button } from '@pipeline/web/components/button.tsx';
import { Dialog } from '@pipeline/web/components/dialog.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { useMutation, useQueryClient } from '@tanstack/react-query';

/** Something that can be ended, with the words for it. */
export interface EndPlan {
  /** "End the connection of Acme Agent?" */
  title: string;
  /** Effect of the action. */
  effect: string;
  /** "End connection" */
  verb: string;
  /** Message when it fails; default: it was not ended. */
  failure?: string;
  run: () => Promise<unknown>;
}

/** Asks once before something is ended, then reads everything again. */
export function EndDialog({ plan, onClose }: { plan: EndPlan; onClose: () => void }) {
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: plan.run,
    onSuccess: async () => {
      await client.invalidateQueries();
      onClose();
    },
  });
  return (
    <Dialog title={plan.title} role="alertdialog" onClose={onClose}>
      <div className={layout.stack}>
        <p>{plan.effect}</p>
        {error && <FailureNote what={plan.failure ?? 'It was not ended'} error={error} />}
        <div className={layout.row}>
          <Button kind="danger" isDisabled={isPending} autoFocus onPress={() => mutate()}>
            {plan.verb}
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  );
}
