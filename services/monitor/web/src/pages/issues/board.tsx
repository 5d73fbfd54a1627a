import { Button } from '@pipeline/web/components/button.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { isState, STATE_NAMES, STATES } from '@pipeline/web/states/states.ts';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useRef } from 'react';
import type { Issue, State } from '../../api/types.ts';
import styles from './board.module.css';
import { addressOf } from './columns.tsx';
import type { IssueValues, SetValues } from './filters.tsx';
import { IssueCost } from './issue-cost.tsx';
import { NoIssues } from './no-issues.tsx';
import { phraseOf } from './phrase.ts';
import { PullRequest } from './pull-request.tsx';
import { TimeInState } from './time-in-state.tsx';
import { keyOfIssue } from './use-issues.ts';

const CARD_PX = 92;

interface IssueBoardProps {
  issues: readonly Issue[];
  values: IssueValues;
  set: SetValues;
  onPeek: (name: string) => void;
  hasMore: boolean;
  onMore: () => void;
}

/** The issues by state; empty columns are collapsed to their headers. */
export function IssueBoard({ issues, values, set, onPeek, hasMore, onMore }: IssueBoardProps) {
  if (issues.length === 0) return <NoIssues values={values} set={set} />;
  const byState = Map.groupBy(issues, ({ state }) => state);
  const shown = isState(values.state)
    ? [values.state]
    : STATE_NAMES.filter((state) => state !== 'done' || byState.has(state));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={styles.board} aria-label="Board" tabIndex={0}>
        {shown.map((state) => (
          <BoardColumn key={state} state={state} issues={byState.get(state) ?? []} onPeek={onPeek} />
        ))}
      </section>
      {hasMore && <Button onPress={onMore}>Load more issues</Button>}
    </>
  );
}

function BoardColumn({
  state,
  issues,
  onPeek,
}: {
  state: State;
  issues: readonly Issue[];
  onPeek: (name: string) => void;
}) {
  const scroller = useRef<HTMLElement>(null);
  const { items, total } = useVirtualCards(issues, scroller);
  const { glyph, colour, label } = STATES[state];
  return (
    <section
      className={styles.column}
      data-empty={issues.length === 0 || undefined}
      aria-label={`${label}: ${issues.length}`}
    >
      <h2 className={styles.head}>
        <Glyph name={glyph} colour={colour} />
        <span className={styles.name}>{label}</span>
        <span className={styles.count}>{issues.length}</span>
      </h2>
      {issues.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <section ref={scroller} className={styles.cards} tabIndex={0} aria-label={`${label} issues`}>
          <ul className={styles.space} style={{ height: total }}>
            {items.map(({ index, start }) => {
              const issue = issues[index];
              return (
                issue && (
                  <li key={keyOfIssue(issue)} className={styles.place} style={{ transform: `translateY(${start}px)` }}>
                    <Card issue={issue} onPeek={onPeek} />
                  </li>
                )
              );
            })}
          </ul>
        </section>
      )}
    </section>
  );
}

function Card({ issue, onPeek }: { issue: Issue; onPeek: (name: string) => void }) {
  const { repo, issueNumber, title, isPaused, activeTaskType, assignedAgent } = issue;
  return (
    <article className={styles.card} data-paused={isPaused || undefined}>
      <p className={styles.title}>
        <PageLink {...addressOf(issue)} title={title}>
          #{issueNumber} <TitleText text={title} />
        </PageLink>
      </p>
      <p className={styles.why} title={phraseOf(issue)}>
        {phraseOf(issue) || (activeTaskType && (assignedAgent ?? 'waits for a worker'))}
      </p>
      <p className={styles.facts}>
        <TimeInState issue={issue} />
        <PullRequest issue={issue} />
        <IssueCost issue={issue} />
        <Button
          kind="quiet"
          glyph="info"
          aria-label={`Peek at #${issueNumber}`}
          onPress={() => onPeek(`${repo}/${issueNumber}`)}
        />
      </p>
    </article>
  );
}

/** Returns the cards in view with their places, and the height of all. */
function useVirtualCards(cards: readonly unknown[], scroller: RefObject<HTMLElement | null>) {
  const virtual = useVirtualizer({
    count: cards.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD_PX,
    overscan: 4,
  });
  return { items: virtual.getVirtualItems(), total: virtual.getTotalSize() };
}
