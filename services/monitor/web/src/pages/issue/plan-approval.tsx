import { Button } from '@pipeline/web/components/button.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { startAction } from '../../actions/perform.ts';
import { approvePlanAction, rejectPlanAction } from '../../actions/plan-answers.ts';
import { read } from '../../api/query.ts';
import { Panel } from '../../page/panel.tsx';
import { EditPlanDialog } from './edit-plan-dialog.tsx';
import styles from './issue.module.css';
import type { IssueInput } from './issue-input.ts';
import { PlanVersionText } from './plan-version.tsx';

interface PlanApprovalProps {
  /** As spelt on the host, owner/name. */
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
