import { lazily } from '../shared/lazily.ts';
import { formatCount } from './number.ts';

const cents = lazily(() => new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }));
const fractions = lazily(
  () => new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', minimumFractionDigits: 4 }),
);
const whole = lazily(
  () => new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 }),
);

/** Cost that no agent reported is not a cost of 0. */
export const UNREPORTED = 'unreported';

/** Returns an amount in USD: four decimals below a cent, none from 10,000. */
export function formatUsd(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return UNREPORTED;
  if (usd !== 0 && Math.abs(usd) < 0.01) return fractions().format(usd);
  return Math.abs(usd) >= 10_000 ? whole().format(usd) : cents().format(usd);
}

/** Returns a sum of costs in USD beside the number of invocations that it does not contain. */
export function formatSum(usd: number, unreportedCosts: number): string {
  if (unreportedCosts === 0) return formatUsd(usd);
  const missing = `${formatCount(unreportedCosts)} ${UNREPORTED}`;
  return usd === 0 ? missing : `${formatUsd(usd)} + ${missing}`;
}

/** Returns a sum of costs in USD as formatSum does; a dash where nothing was spent. */
export const formatTotal = (usd: number, unreportedCosts: number): string =>
  usd + unreportedCosts === 0 ? '–' : formatSum(usd, unreportedCosts);

/**
 * Returns formatTotal as a figure for a narrow column, without the number of unreported costs: "≥ $2.00" is a sum that
 * lacks some.
 */
export function formatAtLeast(usd: number, unreportedCosts: number): string {
  if (unreportedCosts === 0) return formatTotal(usd, 0);
  return usd === 0 ? UNREPORTED : `≥ ${formatUsd(usd)}`;
}

/**
 * Returns the cost of an issue. The API has 0 both for work that cost nothing and for agents that report no cost;
 * `worked` = whether any agent has worked on it.
 */
export const formatIssueCost = (usd: number, worked: boolean): string =>
  usd === 0 ? (worked ? UNREPORTED : '–') : formatUsd(usd);
