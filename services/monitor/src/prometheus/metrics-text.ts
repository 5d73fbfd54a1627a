import { PreparedBody } from '@pipeline/http';
import type { Registry } from 'prom-client';

/**
 * The text of all metrics. Its cost grows with the number of repos, so one text serves all requests within `keptMs`, and
 * those that arrive while it is rendered. A failure is the response to its own requests only.
 * @param clock milliseconds.
 */
export function metricsText(
  registry: Pick<Registry, 'metrics'>,
  keptMs: number,
  clock = () => performance.now(),
): () => Promise<PreparedBody> {
  let last: { until: number; body: Promise<PreparedBody> } | null = null;
  return () => {
    if (last !== null && clock() < last.until) return last.body;
    const made = { until: clock() + keptMs, body: registry.metrics().then((text) => new PreparedBody(text)) };
    last = made;
    made.body.catch(() => {
      if (last === made) last = null;
    });
    return made.body;
  };
}
