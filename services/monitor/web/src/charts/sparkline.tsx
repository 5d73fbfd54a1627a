import { linePath } from './line-path.ts';
import styles from './sparkline.module.css';

interface SparklineProps {
  /** Oldest first; null = no value. */
  values: readonly (number | null)[];
  /** A line to compare with. */
  baseline?: number | null;
  /** Summary of the line in words: screen readers get this instead. */
  summary: string;
}

const WIDTH = 120;
const HEIGHT = 24;

/** A small line without axes. */
export function Sparkline({ values, baseline = null, summary }: SparklineProps) {
  const known = [...values, baseline].filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const y = (value: number): number => (high === low ? HEIGHT / 2 : 2 + ((high - value) / (high - low)) * (HEIGHT - 4));
  const step = WIDTH / Math.max(1, values.length - 1);
  return (
    <svg role="img" aria-label={summary} className={styles.line} viewBox={`0 0 ${WIDTH} ${HEIGHT}`}>
      {baseline !== null && <path className={styles.baseline} d={`M0 ${y(baseline)}H${WIDTH}`} />}
      <path className={styles.value} d={linePath(values, (index) => index * step, y)} />
    </svg>
  );
}
