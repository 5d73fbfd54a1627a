import type { ReactNode } from 'react';
import styles from './bars.module.css';

export interface Bar {
  key: string;
  label: ReactNode;
  /** Parts of the bar from left to right, such as pending and claimed. */
  parts: readonly { value: number; colour: string; name: string }[];
  /** The figure at the end of the row. */
  figure: ReactNode;
}

interface BarsProps {
  label: string;
  bars: readonly Bar[];
  /**
   * Position of the figures: beside their bars; beside them where the panel is wide and beside the labels where it is
   * not, for figures of several words; or below their bars.
   */
  figures?: 'beside' | 'adaptive' | 'below';
}

/** Horizontal bars with their figures: a list for screen readers. */
export function Bars({ label, bars, figures = 'beside' }: BarsProps) {
  const longest = Math.max(1e-9, ...bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0)));
  return (
    <ul className={styles.bars} aria-label={label} data-figures={figures}>
      {bars.map(({ key, label: name, parts, figure }) => (
        <li key={key} className={styles.bar}>
          <span className={styles.label}>{name}</span>
          <span className={styles.track}>
            {parts
              .filter(({ value }) => value > 0)
              .map((part) => (
                <span
                  key={part.name}
                  className={styles.part}
                  title={`${part.name}: ${part.value}`}
                  style={{ width: `${(part.value / longest) * 100}%`, background: `var(${part.colour})` }}
                />
              ))}
          </span>
          <span className={styles.figure}>{figure}</span>
        </li>
      ))}
    </ul>
  );
}
