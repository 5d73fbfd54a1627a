import { Button } from '@pipeline/web/components/button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatUsd } from '@pipeline/web/format/money.ts';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { startAction } from '../../actions/perform.ts';
import { approvePlan, rejectPlan, type Snapshot } from './strategy-plans.ts';
import { changeInWords, slateInWords } from './words.ts';

/** A snapshot: what it changes and why, its risk against the envelope, and the decision. */
export function SnapshotView({ repo, snapshot }: { repo: string; snapshot: Snapshot }) {
  const { version, status, intent, rationale, changes, slate, evidence } = snapshot;
  return (
    <div className={layout.stack}>
      <div className={layout.line}>
        <strong className={layout.grow}>
          Snapshot {version}: {intent}
        </strong>
        {status === 'proposed' && (
          <span className={layout.row}>
            <Button
              kind="primary"
              isDisabled={snapshot.risk.violations.length > 0}
              onPress={() => startAction(approvePlan(repo, snapshot))}
            >
              Approve
            </Button>
            <Button onPress={() => startAction(rejectPlan(repo, snapshot))}>Reject</Button>
          </span>
        )}
      </div>
      <Risk risk={snapshot.risk} />
      <p className={layout.text}>{rationale}</p>
      <section>
        <h3>Changes</h3>
        <ul className={layout.list}>
          {changes.map((change) => (
            <li key={`${change.track} ${change.field}`} className={layout.item}>
              <span>{changeInWords(change)}</span>
              <span className={layout.muted}>{change.reason}</span>
            </li>
          ))}
        </ul>
      </section>
      {slate.length > 0 && (
        <section>
          <h3>Work that the tracks create under it</h3>
          <p>{slate.map((entry) => `${entry.track}: ${slateInWords([entry])}`).join('; ')}</p>
        </section>
      )}
      {evidence.length > 0 && (
        <section>
          <h3>Evidence</h3>
          <ul>
            {evidence.map(({ kind, ref, summary }) => (
              <li key={`${kind} ${ref}`}>
                {summary} <code className={layout.muted}>{ref}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
      <SnapshotFacts snapshot={snapshot} />
    </div>
  );
}

function Risk({ risk }: { risk: Snapshot['risk'] }) {
  const { withinEnvelope, maxSize, violations, needsApproval } = risk;
  return (
    <div>
      <p className={withinEnvelope && violations.length === 0 ? layout.good : layout.danger}>
        {withinEnvelope ? 'Within the envelope of the charter' : 'Outside the envelope of the charter'}, increases work
        up to size {maxSize}
      </p>
      {violations.map((text) => (
        <p key={text} className={layout.danger}>
          Cannot be applied: {text}
        </p>
      ))}
      {needsApproval.map((text) => (
        <p key={text}>Needs an operator: {text}</p>
      ))}
    </div>
  );
}

function SnapshotFacts({ snapshot }: { snapshot: Snapshot }) {
  const { proposedBy, source, createdAt, isoWeek, charterVersion, parentVersion, costUsd, approvedBy } = snapshot;
  return (
    <NamedValues
      facts={[
        ['Proposed by', source === 'weekly' ? `the weekly cycle${isoWeek ? `, ${isoWeek}` : ''}` : proposedBy],
        ['Proposed', <When key="at" at={createdAt} />],
        ['Charter', charterVersion === null ? 'none' : `version ${charterVersion}`],
        ['Follows', parentVersion === null ? 'no snapshot' : `snapshot ${parentVersion}`],
        costUsd === null ? null : ['Cost', formatUsd(costUsd)],
        approvedBy === null ? null : ['Approved by', approvedBy],
      ]}
    />
  );
}
