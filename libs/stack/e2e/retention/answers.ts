import { COST_WINDOWS, WINDOWS } from '@pipeline/domain';
import { frozenUrl, startService } from '../history/service.ts';
import type { Filled } from './fill.ts';

/**
 * Number of tenants of which every figure is compared. The repos are disabled, which routes of one repo do not find.
 */
const TENANTS = 4;

const PATHS = [
  ...WINDOWS.flatMap((window) => [
    `/api/pipeline/state-timeseries?window=${window}&buckets=48`,
    `/api/pipeline/cohort-funnel?window=${window}`,
    `/api/pipeline/autonomy?window=${window}`,
    `/api/pipeline/attribution?window=${window}`,
    `/api/pipeline/retrospectives?window=${window}`,
    `/api/pipeline/throughput?since=${window}`,
  ]),
  ...COST_WINDOWS.map((window) => `/api/pipeline/cost-by-model?window=${window}`),
  // The runs of an issue began some days before it was merged.
  ...['30d', '390d'].map((window) => `/api/agents/scoreboard?window=${window}`),
  '/api/pipeline/cost-summary?',
  '/api/pipeline/weekly-reliability?',
  '/api/pipeline-events?limit=200&offset=0',
  '/api/pipeline-events?limit=20&offset=0&type=operator_action',
];

/** The total of all events counts those of dropped months too. */
const withoutTotal = (text: string): string => text.replace(/"total":\d+/, '"total":0');

interface AnswersOptions {
  databaseUrl: string;
  dataDir: string;
  path: string | undefined;
  filled: Filled;
}

/** Figures of filled tenants from a monitor whose clock stands at the end of the history. @returns texts by path. */
export async function answersAt(options: AnswersOptions): Promise<Map<string, string>> {
  const { databaseUrl, dataDir, path, filled } = options;
  const frozen = frozenUrl(databaseUrl, filled.end);
  const env = { PATH: path, REQUESTS_PER_MINUTE: '0' };
  const monitor = await startService({ name: 'monitor', databaseUrl: frozen, dataDir, env });
  try {
    const answers = new Map<string, string>();
    for (const tenant of filled.tenants.slice(0, TENANTS)) {
      for (const part of PATHS) {
        const asked = `${part}&tenant=${tenant}`.replace('?&', '?');
        const response = await fetch(monitor.url + asked);
        answers.set(asked, `${response.status} ${withoutTotal(await response.text())}`);
      }
    }
    return answers;
  } finally {
    await monitor.stop();
  }
}

/** @returns a line for each answer that is no success or not the same. */
export const changedAnswers = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...before].flatMap(([path, text]) => {
    if (!text.startsWith('200 ')) return [`${path}: ${text.slice(0, 200)}`];
    return after.get(path) === text ? [] : [`${path}: ${text.slice(0, 200)} became ${after.get(path)?.slice(0, 200)}`];
  });
