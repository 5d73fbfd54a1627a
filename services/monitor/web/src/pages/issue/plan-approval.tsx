import { Button } from '@pipeline/web/components/button.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../actions/form-dialog.tsx';
import type { IssueTarget } from '../../actions/issue-actions.ts';
import { startAction } from '../../actions/perform.ts';
import { approvePlanAction, rejectPlanAction, sendApproval } from '../../actions/plan-answers.ts';
import { read } from '../../api/query.ts';
import type { IssueInput } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './issue.module.css';
import { type PlanVersion, PlanVersionText } from './plan-version.tsx';

interface PlanApprovalProps {
  /** Repo as spelt on the host, owner/name. */
  repo: string;
  issueNumber: number;
  input: IssueInput;
}

/** The plan that waits for an answer, rendered, and the answers; nothing when no plan waits. */
export function PlanApproval({ repo, issueNumber, input }: PlanApprovalProps) {
  const query = useQuery(read('listPlans', { ...input, query: { ...input.query, limit: 1 } }));
  const [isEditing, setEditing] = useState(false);
  const plan = query.data?.items.find(({ status }) => status === 'pending');
  if (!plan) return null;
  const issue = { repo, issueNumber, ...input.query };
  const target = { ...issue, version: plan.version };
  return (
    <Panel title={`Plan to approve, version ${plan.version}`} query={query} height={300}>
      {() => (
        <div className={styles.head}>
          <PlanVersionText plan={plan} />
          <div className={styles.tabs} role="toolbar" aria-label="Answers to the plan">
            <Button kind="primary" onPress={() => startAction(approvePlanAction(target))}>
              Approve the plan
            </Button>
            <Button onPress={() => setEditing(true)}>Edit and approve …</Button>
            <Button kind="danger" onPress={() => startAction(rejectPlanAction(target))}>
              Reject …
            </Button>
          </div>
          {isEditing && <EditPlanDialog issue={issue} plan={plan} onClose={() => setEditing(false)} />}
        </div>
      )}
    </Panel>
  );
}

/** Number of characters that the API accepts. */
const MAX_PLAN = 100_000;

interface EditPlanDialogProps {
  issue: IssueTarget;
  plan: PlanVersion;
  onClose: () => void;
}

/** Approves an edited text of the plan; the version of the agent is kept. */
function EditPlanDialog({ issue, plan: { version, body }, onClose }: EditPlanDialogProps) {
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
