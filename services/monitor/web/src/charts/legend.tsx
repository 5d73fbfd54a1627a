import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { FAMILIES, STATES } from '@pipeline/web/states/states.ts';
import { memo } from 'react';
import type { State } from '../api/types.ts';
import styles from './legend.module.css';

/** The states of a chart in their order, each with its glyph; families are in the tip. */
export const StateLegend = memo(function StateLegend({ states }: { states: readonly State[] }) {
  return (
    <ul className={styles.legend}>
      {states.map((state) => (
        <li key={state} title={FAMILIES[STATES[state].family]}>
          <span className={styles.patch} style={{ background: `var(${STATES[state].colour})` }} />
          <Glyph name={STATES[state].glyph} colour={STATES[state].colour} size={12} />
          {STATES[state].label}
        </li>
      ))}
    </ul>
  );
});
