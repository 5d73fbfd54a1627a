import type { Registry } from 'prom-client';

/**
 * The text of all metrics. It costs the more the more repos there are, so one text serves everybody who asks within
 * `keptMs`, as well as those who ask while it is being made. One that failed serves nobody else.
 * @param clock milliseconds.
 */
export function metricsText(
  registry: Pick<Registry, 'metrics'>,
  keptMs: number,
  clock = () => performance.now(),
): () => Promise<string> {
  let last: { until: number; text: Promise<string> } | null = null;
  return () => {
    if (last !== null && clock() < last.until) return last.text;
    const made = { until: clock() + keptMs, text: registry.metrics() };
    last = made;
    made.text.catch(() => {
      if (last === made) last = null;
    });
    return made.text;
  };
}
