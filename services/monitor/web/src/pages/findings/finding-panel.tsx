import { Button } from '@pipeline/web/components/button.tsx';
import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatConfidence } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { startAction } from '../../actions/perform.ts';
import { issuePath } from '../../navigation/issue-path.ts';
import { SidePanel } from '../../peek/side-panel.tsx';
import { Severity } from './columns.tsx';
import { EvidenceList } from './evidence-list.tsx';
import { type Finding, findingPlans } from './finding-plans.ts';

/** A finding with its evidence, and what can be done about it. */
export function FindingPanel({ finding, repo, onClose }: { finding: Finding; repo: string; onClose: () => void }) {
  const { title, severity, confidence, blocksProgress, status, category, agentName, issueNumber, createdAt } = finding;
  return (
    <SidePanel title={title} onClose={onClose}>
      <NamedValues
        facts={[
          ['Severity', <Severity key="severity" severity={severity} />],
          ['Confidence', formatConfidence(confidence)],
          ['Status', status],
          ['Category', category],
          ['Agent', agentName],
          ['Found', <When key="found" at={createdAt} />],
          issueNumber === null
            ? null
            : [
                'Issue',
                <PageLink key="issue" to={issuePath(repo, issueNumber)}>
                  #{issueNumber}
                </PageLink>,
              ],
        ]}
      />
      {blocksProgress && (status === 'open' || status === 'accepted') && (
        <p className={layout.danger}>The merge is blocked until this is resolved or dismissed.</p>
      )}
      {finding.dismissedReason && <p>Dismissed: {finding.dismissedReason}</p>}
      <p className={layout.text}>{finding.summary}</p>
      {finding.recommendation && (
        <section className={layout.stack}>
          <h3>Recommendation</h3>
          <p className={layout.text}>{finding.recommendation}</p>
        </section>
      )}
      {finding.evidence.length > 0 && (
        <section className={layout.stack}>
          <h3>Evidence</h3>
          <EvidenceList evidence={finding.evidence.map(textsOf)} />
        </section>
      )}
      <p className={layout.row}>
        {findingPlans(finding).map((plan) => (
          <Button key={plan.verb} onPress={() => startAction(plan)}>
            {plan.verb}
          </Button>
        ))}
        <CopyButton text={finding.id} what="id of the finding" />
      </p>
    </SidePanel>
  );
}

const textsOf = ({ kind, ref, path, lineStart, lineEnd, url, summary }: Finding['evidence'][number]) => {
  const lines = lineStart === undefined ? '' : `:${lineStart}${lineEnd === undefined ? '' : `-${lineEnd}`}`;
  return { kind, url, summary, text: path ? `${path}${lines}` : (ref ?? '') };
};
