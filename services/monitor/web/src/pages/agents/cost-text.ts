import { formatUsd } from '@pipeline/web/format/money.ts';
import { formatCount } from '@pipeline/web/format/number.ts';
import type { Reply } from '../../api/types.ts';

type Score = Reply<'agentScoreboard'>['items'][number];

/** Returns the cost per merged pull request, and of how many it is known when it is not known of all. */
export function costText({ costPerMergeUsd, pricedIssues, mergedIssues }: Score): string {
  const cost = formatUsd(costPerMergeUsd);
  if (costPerMergeUsd === null || pricedIssues === mergedIssues) return cost;
  return `${cost}, known of ${formatCount(pricedIssues)} of ${formatCount(mergedIssues)}`;
}
