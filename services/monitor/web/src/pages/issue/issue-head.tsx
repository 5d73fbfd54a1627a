import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatIssueCost, formatSum } from '@pipeline/web/format/money.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { useQuery } from '@tanstack/react-query';
import { IssueAction } from '../../actions/issue-action.tsx';
import { read } from '../../api/query.ts';
import type { IssueInput, Reply } from '../../api/types.ts';
import { CHECK_LOOKS } from '../../checks/check-looks.ts';
import { Panel } from '../../page/panel.tsx';
import { IssueActions } from '../../peek/issue-actions.tsx';
import { IssueTrouble } from '../../peek/issue-trouble.tsx';
import styles from './issue.module.css';

type Check = Reply<'explainIssueTo'>['checks'][number];

const ORDER = Object.keys(CHECK_LOOKS);

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

/** The checks of the pull request as the host reports them, failed ones first, each with its page on the host. */
function Checks({ checks }: { checks: readonly Check[] }) {
  if (checks.length === 0) return null;
  const sorted = checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  return (
    <ul className={styles.checks} aria-label="Checks of the pull request">
      {sorted.map(({ name, state, conclusion, url }) => (
        <li key={name} className={styles.check} title={conclusion ?? undefined}>
          <Glyph name={CHECK_LOOKS[state].glyph} colour={CHECK_LOOKS[state].colour} />
          {url === null || !/^https?:\/\//i.test(url) ? (
            name
          ) : (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {name}
            </a>
          )}
          <span className={styles.muted}>{CHECK_LOOKS[state].word}</span>
        </li>
      ))}
    </ul>
  );
}
