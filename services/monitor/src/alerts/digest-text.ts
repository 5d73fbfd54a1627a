import type { DailyDigest } from '@pipeline/domain';

/** Characters of an error's message: enough to distinguish it from other errors. */
const MAX_ERROR = 120;

const usd = (amount: number): string => `$${amount.toFixed(2)}`;
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Issues that are not done. Keys are state:owner/repo. */
const underWay = ({ pipelineByState }: DailyDigest): number =>
  sum(Object.entries(pipelineByState).map(([key, n]) => (key.startsWith('done:') ? 0 : n)));

/** A day in one line: what is in progress, and what went wrong and was spent in the 24 hours before. */
export function digestLine(digest: DailyDigest): string {
  const { date, blockedCount, recentErrors, dailyCostUsd, topRegressedKpis } = digest;
  return [
    `${date}: ${underWay(digest)} issues in progress`,
    `${blockedCount} blocked`,
    `${sum(recentErrors.map(({ count }) => count))} failed runs`,
    dailyCostUsd === null ? 'nothing spent' : `${usd(dailyCostUsd)} spent`,
    `${topRegressedKpis.length} KPIs regressed`,
  ].join(', ');
}

/** Lists the context of a digest: the most frequent error, the figure that got worst, the spending of a month. */
export function digestContext({ recentErrors, topRegressedKpis, monthlyCostUsd }: DailyDigest): string[] {
  const [error] = recentErrors;
  const [worst] = topRegressedKpis;
  return [
    error === undefined ? null : `${error.count} × ${error.message.replaceAll(/\s+/g, ' ').slice(0, MAX_ERROR)}`,
    worst === undefined ? null : `${worst.kpi} of ${worst.owner}/${worst.repo} (${worst.magnitude})`,
    monthlyCostUsd === null ? null : `${usd(monthlyCostUsd)} in 30 days`,
  ].filter((part) => part !== null);
}
