import { AGENT_OF } from '@pipeline/domain';
import { claimsSince, endedRuns, type MetricTotals, metricTotals, type Store, storeNow } from '@pipeline/store';
import { Counter, Histogram, type Registry } from 'prom-client';

/** A claim is seen at the latest so long after its own time: what commits late is found by the next look. */
const OVERLAP_MS = 60_000;

const WAIT_BUCKETS = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];
const RUN_BUCKETS = [1, 10, 60, 300, 900, 1_800, 3_600, 10_800];

const OUTCOMES: Readonly<Record<string, string>> = {
  task_completed: 'completed',
  task_failed: 'failed',
  task_given_up: 'given_up',
};
const RETRIES = ['task_failed', 'task_reclaimed'];

/**
 * Counters of what has happened in the whole deployment, and how long work waits and takes. Read from the store at the pace
 * of the metrics, never by a scrape. Every monitor counts all: take one of them, or the greatest.
 */
export function createTotals(registry: Registry, store: Store): { refresh(): Promise<void> } {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const counters = {
    cost: counter('svc_cost_usd_total', 'Spending in US dollars.', ['repo', 'agent', 'model']),
    unreported: counter('svc_unreported_costs_total', 'Model invocations without a cost.', ['repo', 'agent', 'model']),
    tokens: counter('svc_tokens_total', 'Tokens read and written by models.', ['model', 'kind']),
    transitions: counter('svc_state_transitions_total', 'State transitions of issues.', ['repo', 'from', 'to']),
    finished: counter('svc_tasks_finished_total', 'Finished tasks by outcome.', ['task_type', 'outcome']),
    retries: counter('svc_task_retries_total', 'Attempts that failed or were reclaimed.', ['task_type']),
  };
  const wait = new Histogram({
    name: 'svc_task_queue_wait_seconds',
    help: 'Time from when a task became claimable until its claim.',
    buckets: WAIT_BUCKETS,
    registers,
  });
  const run = new Histogram({
    name: 'svc_task_run_seconds',
    help: 'Time from the claim of a task until its end.',
    labelNames: ['task_type'],
    buckets: RUN_BUCKETS,
    registers,
  });
  const agents = [...new Set(Object.values(AGENT_OF))];
  const claims = new FreshClaims(store, agents);
  let from: string | null = null;
  return {
    async refresh() {
      const { db } = store;
      put(counters, await metricTotals(db));
      const to = await storeNow(db);
      for (const seconds of await claims.look(to)) wait.observe(seconds);
      if (from !== null) {
        for (const { task_type, seconds } of await endedRuns(db, { from, to, agents }))
          run.observe({ task_type }, seconds);
      }
      from = to;
    },
  };
}

type Counters = Record<'cost' | 'unreported' | 'tokens' | 'transitions' | 'finished' | 'retries', Counter>;

function put(counters: Counters, { costs, tokens, transitions, tasks }: MetricTotals): void {
  for (const counter of Object.values(counters)) counter.reset();
  for (const { usd, unreported, ...labels } of costs) {
    counters.cost.inc(labels, usd);
    counters.unreported.inc(labels, unreported);
  }
  for (const { model, ...kinds } of tokens) {
    counters.tokens.inc({ model, kind: 'input' }, kinds.input);
    counters.tokens.inc({ model, kind: 'output' }, kinds.output);
    counters.tokens.inc({ model, kind: 'cache_read' }, kinds.cacheRead);
    counters.tokens.inc({ model, kind: 'cache_write' }, kinds.cacheWrite);
  }
  for (const { n, ...labels } of transitions) counters.transitions.inc(labels, n);
  for (const { task_type, event_type, n } of tasks) {
    const outcome = OUTCOMES[event_type];
    if (outcome !== undefined) counters.finished.inc({ task_type, outcome }, n);
    if (RETRIES.includes(event_type)) counters.retries.inc({ task_type }, n);
  }
}

/**
 * Finds each claim of the deployment once, from the first look on: every look goes back before the last one, and
 * leaves out what that one saw. Keeps the ids of about a minute.
 */
export class FreshClaims {
  readonly #store: Store;
  readonly #agents: readonly string[];
  #seen: Set<number> | null = null;
  #from: string | null = null;

  constructor(store: Store, agents: readonly string[]) {
    this.#store = store;
    this.#agents = agents;
  }

  /** @param now the store's. @returns how long the task of each waited, in seconds; nothing at the first look. */
  async look(now: string): Promise<number[]> {
    const before = new Date(Date.parse(now) - OVERLAP_MS).toISOString();
    const found = await claimsSince(this.#store.db, { from: this.#from ?? before, agents: this.#agents });
    const seen = this.#seen;
    this.#seen = new Set(found.map(({ id }) => id));
    this.#from = before;
    return seen === null ? [] : found.filter(({ id }) => !seen.has(id)).map(({ seconds }) => Math.max(0, seconds));
  }
}
