import { TextField } from '@pipeline/web/components/text-field.tsx';
import { useState } from 'react';
import { FormDialog } from '../../actions/form-dialog.tsx';
import type { IssueTarget } from '../../actions/issue-actions.ts';
import { sendApproval } from '../../actions/plan-answers.ts';
import type { PlanVersion } from './plan-version.tsx';

/** Number of characters that the API accepts. */
const MAX_PLAN = 100_000;

interface EditPlanDialogProps {
  issue: IssueTarget;
  plan: PlanVersion;
  onClose: () => void;
}

/** Approves an edited text of the plan; the version of the agent is kept. */
export function EditPlanDialog({ issue, plan: { version, body }, onClose }: EditPlanDialogProps) {
  const [text, setText] = useState(body);
  return (
    <FormDialog
      plan={{
        verb: 'Approve',
        object: 'the edited plan',
        effect: `Your text becomes a new version, and development begins with it. Version ${version} is kept.`,
        run: () => sendApproval({ ...issue, version }, { text }),
      }}
      isReady={text.trim() !== '' && text !== body}
      onClose={onClose}
    >
      <TextField
        label="Plan"
        hint="Markdown"
        rows={20}
        maxLength={MAX_PLAN}
        isRequired
        autoFocus
        value={text}
        onChange={setText}
      />
    </FormDialog>
  );
}
