import { type CostWindow, costWindowStart, DAY_MS, utcMidnight } from '@pipeline/domain';
import { percentOf, usdOf } from './arithmetic.ts';
import { byText, iso, namesOf } from './names.ts';
import type { Rows } from './rows.ts';

type Costs = Rows['costs'];
type Calls = Rows['invocations'];

const unreported = (calls: Calls, since: number): number =>
  calls.filter(({ at, isReported }) => at >= since && !isReported).length;

const spent = (costs: Costs, since: number): number => usdOf(costs.filter(({ at }) => at >= since));

const spansOf = (costs: Costs, calls: Calls, now: number) => ({
  last24hUsd: spent(costs, now - DAY_MS),
  last7dUsd: spent(costs, now - 7 * DAY_MS),
  last30dUsd: spent(costs, now - 30 * DAY_MS),
  lifetimeUsd: spent(costs, 0),
  last24hUnreportedCosts: unreported(calls, now - DAY_MS),
  last7dUnreportedCosts: unreported(calls, now - 7 * DAY_MS),
  last30dUnreportedCosts: unreported(calls, now - 30 * DAY_MS),
  lifetimeUnreportedCosts: unreported(calls, 0),
});

const costByWindowOf = ({ costs, invocations }: Pick<Rows, 'costs' | 'invocations'>, now: number) => ({
  ...spansOf(costs, invocations, now),
  todayUsd: spent(costs, utcMidnight(new Date(now)).getTime()),
  todayUnreportedCosts: unreported(invocations, utcMidnight(new Date(now)).getTime()),
});

export function costSummaryOf(rows: Rows, now: number) {
  const names = namesOf(rows.repos);
  const ofRepo = <T extends { repoId: number }>(all: T[], id: number) => all.filter(({ repoId }) => repoId === id);
  const repoIds = new Set([...rows.costs, ...rows.invocations].map(({ repoId }) => repoId));
  const byRepo = [...repoIds].map((id) => ({
    repo: names.get(id) ?? '',
    ...spansOf(ofRepo(rows.costs, id), ofRepo(rows.invocations, id), now),
  }));
  const agents = Map.groupBy(rows.costs, ({ agent }) => agent);
  const invocations = Map.groupBy(rows.invocations, ({ agent }) => agent);
  const byAgent = [...new Set([...agents.keys(), ...invocations.keys()])].map((agent) => ({
    agent,
    usd: spent(agents.get(agent) ?? [], 0),
    invocations: invocations.get(agent)?.length ?? 0,
    unreportedCosts: unreported(invocations.get(agent) ?? [], 0),
  }));
  return {
    ...costByWindowOf(rows, now),
    byRepo: byRepo.sort((a, b) => b.lifetimeUsd - a.lifetimeUsd || a.repo.localeCompare(b.repo)),
    byAgent: byAgent.sort((a, b) => b.usd - a.usd || byText(a.agent, b.agent)),
    serverTimestamp: iso(now),
  };
}

export function costByModelOf(rows: Rows, window: CostWindow, now: number) {
  const from = costWindowStart(window, new Date(now))?.getTime() ?? 0;
  const key = ({ model, provider }: { model: string; provider: string }) => `${model} ${provider}`;
  const costs = Map.groupBy(
    rows.costs.filter(({ at }) => at >= from),
    key,
  );
  const invocations = Map.groupBy(
    rows.invocations.filter(({ at }) => at >= from),
    key,
  );
  const totalUsd = spent(rows.costs, from);
  const models = [...new Set([...costs.keys(), ...invocations.keys()])].map((name) => {
    const [model = '', provider = ''] = name.split(' ');
    const own = invocations.get(name) ?? [];
    const usd = spent(costs.get(name) ?? [], from);
    const stopped = (stop: string) => percentOf(own.filter((call) => call.stop === stop).length, own.length) ?? 0;
    const tokens = (place: number) => own.reduce((sum, call) => sum + (call.tokens[place] ?? 0), 0);
    return {
      model,
      provider,
      usd,
      sharePct: percentOf(usd, totalUsd) ?? 0,
      invocations: own.length,
      unreportedCosts: unreported(own, from),
      inputTokens: tokens(0),
      outputTokens: tokens(1),
      cacheReadTokens: tokens(2),
      cacheWriteTokens: tokens(3),
      maxTurnsRate: stopped('max_turns'),
      noProgressRate: stopped('no_progress'),
    };
  });
  return {
    window,
    totalUsd,
    totalUnreportedCosts: unreported(rows.invocations, from),
    models: models.sort((a, b) => b.usd - a.usd || byText(a.model, b.model)),
    serverTimestamp: iso(now),
  };
}
