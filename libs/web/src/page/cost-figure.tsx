import { UNKNOWN } from '../format/duration.ts';
import { formatUsd, UNREPORTED } from '../format/money.ts';
import { formatCount } from '../format/number.ts';
import styles from './facts.module.css';

interface CostFigureProps {
  usd: number;
  /** Invocations that are not in the sum. */
  unreported: number;
}

/** A cost among large figures; below it the number of invocations that it does not contain. */
export function CostFigure({ usd, unreported }: CostFigureProps) {
  const isUnknown = usd === 0 && unreported > 0;
  return (
    <>
      {isUnknown ? UNKNOWN : formatUsd(usd)}
      {unreported > 0 && (
        <span className={styles.rest}>
          {!isUnknown && '+ '}
          {formatCount(unreported)} {UNREPORTED}
        </span>
      )}
    </>
  );
}
