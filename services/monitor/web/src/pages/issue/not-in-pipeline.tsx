import { Button } from '@pipeline/web/components/button.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { useQuery } from '@tanstack/react-query';
import { startAction } from '../../actions/perform.ts';
import { repairPlan } from '../../actions/repair-actions.ts';
import { read } from '../../api/query.ts';

/** An issue without a record; where the host has it, the repair that enqueues it is offered. */
export function NotInPipeline({ slug, issueNumber }: { slug: string; issueNumber: number }) {
  const { data } = useQuery(read('listConsistencyFindings', { query: { limit: 500 } }));
  const orphan = data?.items.find(
    (finding) =>
      finding.kind === 'orphan_missing_from_pg' &&
      finding.issueNumber === issueNumber &&
      `${finding.repoOwner}/${finding.repoName}` === slug,
  );
  const plan = orphan && repairPlan(orphan);
  return (
    <EmptyNote title={`${slug}#${issueNumber} is not in the pipeline.`}>
      <p>
        An issue enters when it gets the label <code>svc:enqueue</code> in an enabled repository.
      </p>
      {plan && <Button onPress={() => startAction(plan)}>Enqueue the issue …</Button>}
    </EmptyNote>
  );
}
