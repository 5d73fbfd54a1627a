import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatIssueCost, formatSum } from '@pipeline/web/format/money.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { useQuery } from '@tanstack/react-query';
import { IssueAction } from '../../actions/issue-action.tsx';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import { IssueActions } from '../../peek/issue-actions.tsx';
import { IssueTrouble } from '../../peek/issue-trouble.tsx';
import { Checks } from './checks.tsx';
import styles from './issue.module.css';
import type { IssueInput } from './issue-input.ts';

/** Cost of an issue: 0 only when a run reported it. */
function costOf({ totalCostUsd, unreportedCosts, entries }: Reply<'readTimeline'>): string {
  const runs = entries.filter(({ kind }) => kind === 'agent-run');
  const isReported = unreportedCosts > 0 || runs.some(({ costUsd }) => costUsd !== null);
  return isReported ? formatSum(totalCostUsd, unreportedCosts) : formatIssueCost(totalCostUsd, runs.length > 0);
}

/** State, flags, cost, the reason in one sentence, and what can be done. */
export function IssueHead({ why, input }: { why: Reply<'explainIssueTo'>; input: IssueInput }) {
  const status = useQuery(read('issueStatus', input));
  const digest = useQuery(read('diagnoseIssue', input));
  const timeline = useQuery(read('readTimeline', input));
  const { repo, issueNumber, title, state, isPaused, isBlocked } = why;
  return (
    <Panel title={<TitleText text={title} />} query={status} height={200}>
      {() => (
        <div className={styles.head}>
          <p className={styles.facts}>
            <StateChip state={state} isPaused={isPaused} isBlocked={isBlocked} />
            <span>
              for <When at={why.stateEnteredAt} as="since" />
            </span>
            {timeline.data && <span>cost {costOf(timeline.data)}</span>}
            {why.blockReason && (
              <span>
                {inWords(why.blockReason)}
                {why.blockClassification && why.blockClassification !== 'unknown' && ` (${why.blockClassification})`}
              </span>
            )}
            <IssueAction repo={repo} issueNumber={issueNumber} />
          </p>
          <p className={styles.why}>{why.explanation}</p>
          <Checks checks={why.checks} />
          {why.waitingOn.length > 1 && (
            <ul className={styles.waits}>
              {why.waitingOn.map(({ kind, detail, since }) => (
                <li key={`${kind} ${detail}`}>
                  {inWords(kind)}: {detail}
                  {since && (
                    <>
                      , <When at={since} />
                    </>
                  )}
                </li>
              ))}
            </ul>
          )}
          {status.data?.currentStatus && <p className={styles.status}>Latest status: {status.data.currentStatus}</p>}
          <IssueTrouble why={why} />
          {digest.data && digest.data.autoUnblockCount > 0 && (
            <p className={styles.status}>
              Unblocked automatically {digest.data.autoUnblockCount} of {digest.data.maxAutoUnblocks} times
            </p>
          )}
          <p className={styles.status}>
            Trace <code>{why.traceId}</code>
          </p>
          <IssueActions why={why} tenant={input.query.tenant} />
        </div>
      )}
    </Panel>
  );
}
