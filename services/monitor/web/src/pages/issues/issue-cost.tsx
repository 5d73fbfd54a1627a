import { formatAtLeast, formatTotal } from '@pipeline/web/format/money.ts';
import type { Issue } from '../../api/types.ts';

/** The cost of an issue as a figure; how many costs it lacks is shown on hover, and in the peek. */
export function IssueCost({ issue: { costUsd, unreportedCosts } }: { issue: Issue }) {
  return <span title={formatTotal(costUsd, unreportedCosts)}>{formatAtLeast(costUsd, unreportedCosts)}</span>;
}
