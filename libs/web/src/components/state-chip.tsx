import { Glyph } from '../glyphs/glyph.tsx';
import { isState, STATES } from '../states/states.ts';
import styles from './state-chip.module.css';

interface StateChipProps {
  state: string;
  isPaused?: boolean;
  isBlocked?: boolean;
  /** True = an operator chose the state in the transition that led here. */
  isForced?: boolean;
}

/** A state as glyph and word; the flags of an issue have marks of their own. */
export function StateChip({ state, isPaused = false, isBlocked = false, isForced = false }: StateChipProps) {
  const look = isState(state) ? STATES[state] : null;
  return (
    <span className={`${styles.chip} ${isPaused ? styles.paused : ''}`} title={look ? state : undefined}>
      {look && <Glyph name={look.glyph} colour={look.colour} />}
      <span className={styles.word}>{look?.label ?? state}</span>
      {isForced && <Mark name="forced" text="forced by an operator" />}
      {isPaused && <Mark name="pause" text="paused" />}
      {isBlocked && state !== 'failure-blocked' && state !== 'dependency-blocked' && (
        <Mark name="chain" text="blocked" />
      )}
    </span>
  );
}

function Mark({ name, text }: { name: 'forced' | 'pause' | 'chain'; text: string }) {
  return (
    <span className={styles.mark} title={text}>
      <Glyph name={name} size={12} />
      <span className={styles.unseen}>{text}</span>
    </span>
  );
}
