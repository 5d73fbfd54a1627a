import { PressButton } from '@pipeline/web/components/press-button.tsx';
import { Tip } from '@pipeline/web/components/tip.tsx';
import { formatDuration } from '@pipeline/web/format/duration.ts';
import { formatClock } from '@pipeline/web/format/time.ts';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { setPaused } from '../stream/held-events.ts';
import type { LiveState } from '../stream/live-state.ts';
import { type Live, useLive } from '../stream/use-live.ts';
import styles from './live-badge.module.css';

const WORDS: Readonly<Record<LiveState, string>> = {
  live: 'Live',
  paused: 'Paused',
  reconnecting: 'Reconnecting',
  stale: 'Stale',
  cut: 'Cut off',
  'store-offline': 'Store offline',
  'signed-out': 'Signed out',
};

const EFFECTS: Readonly<Record<LiveState, string>> = {
  live: 'Figures change as events arrive. Press to pause.',
  paused: 'Events are held back. Press to apply them and go on.',
  reconnecting: 'The stream of events is being opened again.',
  stale: 'Nothing has arrived for 45 seconds. Figures may be out of date.',
  cut: 'Nothing has arrived for 75 seconds. Figures are out of date.',
  'store-offline': 'The database is not available. Figures are those of the last read.',
  'signed-out': 'The session has ended. Log in to go on.',
};

/** State of the event stream; pauses and resumes it. */
export function LiveBadge() {
  const live = useLive();
  const { zone } = useSignal(preferences);
  const { state } = live;
  return (
    <Tip text={EFFECTS[state]}>
      <PressButton
        className={styles.badge}
        data-state={state}
        onPress={() => setPaused(state !== 'paused')}
        isDisabled={state === 'signed-out'}
      >
        <span className={styles.dot} />
        <span>{WORDS[state]}</span>
        <span className={styles.detail}>{detailOf(live, (at) => formatClock(at, zone))}</span>
      </PressButton>
    </Tip>
  );
}

function detailOf({ state, facts, held }: Live, clock: (at: number) => string): string {
  const now = Date.now();
  if (state === 'live') return formatDuration(now - (facts.lastMessageAt ?? now));
  if (state === 'paused') return `${held} held`;
  // The first connection has lost nothing yet.
  if (state === 'reconnecting' && facts.attempt === 0 && facts.lastMessageAt === null) return '';
  if (state === 'reconnecting')
    return `since ${clock(facts.since)}${facts.attempt > 0 ? `, try ${facts.attempt + 1}` : ''}`;
  if (state === 'stale' || state === 'cut') return `as of ${clock(facts.lastMessageAt ?? facts.since)}`;
  return '';
}
