import {
  type AlertDetector,
  type AlertSeverity,
  DEPLOYMENT,
  problemOfRepo,
  remedyForRepo,
  type Settings,
  type UnavailableReason,
} from '@pipeline/domain';
import {
  abandonedForLong,
  brokenLoops,
  claimedForLong,
  type Db,
  deadLettersRising,
  failingAgain,
  MAX_SIGHTINGS,
  openAlertsOf,
  queuedForLong,
  type Sighting,
  silentForLong,
  spendingFast,
  unavailableRepos,
  unwrittenForLong,
  withoutWorkerForLong,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { raiseAlert, resolveAlert } from './alerts.ts';

type Thresholds = Settings['alerts'];

/** Inputs of detectors that are not in the store. */
export interface Readings {
  /** Issues whose labels on the host differ from their state, by repo; null = not checked yet. */
  driftByRepo: ReadonlyMap<string, number> | null;
  /** Minutes for which each host will refuse all requests because of its rate limit; 0 = none. */
  limitedMinutes: ReadonlyMap<string, number>;
}

interface Detector {
  name: AlertDetector;
  severity: AlertSeverity;
  /** null = unknown now: its alerts stay as they are. */
  look(fleet: Db, thresholds: Thresholds, readings: Readings): Promise<Sighting[] | null>;
  /** @param of what the sighting measured, and the limit. */
  message(sighting: Sighting, limit: number): string;
  limit(thresholds: Thresholds): number | null;
}

type Threshold = { [K in keyof Thresholds]: Thresholds[K] extends number | null ? K : never }[keyof Thresholds];

/** A detector that queries the store; with a threshold of null it finds nothing, so its alerts end. */
const fromStore = (
  of: { name: AlertDetector; severity: AlertSeverity; threshold: Threshold },
  look: (fleet: Db, limit: number, thresholds: Thresholds) => Promise<Sighting[]>,
  message: Detector['message'],
): Detector => ({
  ...of,
  message,
  limit: (thresholds) => thresholds[of.threshold],
  look: async (fleet, thresholds) => {
    const limit = thresholds[of.threshold];
    return limit === null ? [] : look(fleet, limit, thresholds);
  },
});

const ofDeployment = (subject: string, value: number, more: Partial<Sighting> = {}): Sighting => {
  return {
    tenant_id: DEPLOYMENT,
    subject,
    repo: null,
    issue_number: null,
    worker_id: null,
    value,
    detail: null,
    ...more,
  };
};

/** A detector of data in memory. */
const fromMemory = (
  of: { name: AlertDetector; severity: AlertSeverity; threshold: Threshold },
  read: (readings: Readings, limit: number) => Sighting[] | null,
  message: Detector['message'],
): Detector => ({
  ...of,
  message,
  limit: (thresholds) => thresholds[of.threshold],
  look: async (_fleet, thresholds, readings) => {
    const limit = thresholds[of.threshold];
    return limit === null ? [] : read(readings, limit);
  },
});

const warning = 'warning' as const;
const where = ({ repo, issue_number }: Sighting) => `${repo}${issue_number === null ? '' : `#${issue_number}`}`;

/** Detectors in execution order. Other alerts are raised where the problem occurs. */
const DETECTORS: readonly Detector[] = [
  fromStore(
    { name: 'worker_stalled', severity: warning, threshold: 'workerSilentMinutes' },
    silentForLong,
    ({ detail, value }) => `worker ${detail} has been silent for ${value} min and did not sign off`,
  ),
  fromStore(
    { name: 'claim_stalled', severity: warning, threshold: 'claimAgeMinutes' },
    claimedForLong,
    (s) => `${s.detail} of ${where(s)} has been claimed for ${s.value} min`,
  ),
  fromStore(
    { name: 'queue_age', severity: warning, threshold: 'queueAgeMinutes' },
    queuedForLong,
    (s) => `${s.detail} tasks of ${s.repo} are pending, the oldest for ${s.value} min: check that a worker serves them`,
  ),
  fromStore({ name: 'no_worker', severity: warning, threshold: 'noWorkerMinutes' }, withoutWorkerForLong, (s) => {
    const [, count, types] = /^(\d+) (.*)$/s.exec(s.detail ?? '') ?? [];
    const tasks = `${count} pending ${count === '1' ? 'task' : 'tasks'} of ${s.repo} (${types})`;
    return `no worker takes ${tasks}, the oldest for ${s.value} min: start one, or resume a drained one`;
  }),
  fromStore(
    { name: 'no_progress', severity: warning, threshold: 'noProgressMinutes' },
    abandonedForLong,
    (s) => `${where(s)} has been in ${s.detail} for ${s.value} min without a task: retry it`,
  ),
  fromStore(
    { name: 'failure_loop', severity: warning, threshold: 'failureLoopRuns' },
    failingAgain,
    (s) => `${s.value} runs of ${s.repo} failed within an hour with: ${s.detail}`,
  ),
  fromStore(
    { name: 'dead_letter_growth', severity: warning, threshold: 'deadLettersPerHour' },
    deadLettersRising,
    (s) => `${s.value} transitions of ${s.repo} failed permanently within an hour`,
  ),
  fromStore(
    { name: 'projection_backlog', severity: warning, threshold: 'projectionBacklogMinutes' },
    unwrittenForLong,
    (s) => {
      const [, count, error] = /^(\d+)(?: (.*))?$/s.exec(s.detail ?? '') ?? [];
      const age = `${count} host writes of ${s.repo} are pending, the oldest for ${s.value} min`;
      return error === undefined ? age : `${age}: ${error}`;
    },
  ),
  {
    name: 'repo_unavailable',
    severity: warning,
    limit: () => null,
    look: (fleet) => unavailableRepos(fleet),
    message: ({ repo, detail }) => {
      const reason = detail as UnavailableReason;
      return `${repo} ${problemOfRepo(reason)}. ${remedyForRepo(reason)}`;
    },
  },
  fromStore(
    { name: 'cost_anomaly', severity: warning, threshold: 'costAnomalyFactor' },
    (fleet, factor, { costAnomalyMinUsd }) => spendingFast(fleet, { factor, minUsd: costAnomalyMinUsd ?? 0 }),
    (s, factor) => `${usd(s.value)} spent today, more than ${factor} times the daily mean of ${usd(Number(s.detail))}`,
  ),
  fromStore(
    { name: 'loop_failing', severity: 'critical', threshold: 'loopFailures' },
    brokenLoops,
    (s) => `background loop ${s.detail}`,
  ),
  fromMemory(
    { name: 'label_drift', severity: 'info', threshold: 'labelDriftFindings' },
    ({ driftByRepo }, limit) =>
      driftByRepo &&
      [...driftByRepo].flatMap(([repo, n]) => (n >= limit ? [ofDeployment(repo.toLowerCase(), n, { repo })] : [])),
    (s) => `${s.value} issues of ${s.repo} have labels on the host that differ from their state`,
  ),
  fromMemory(
    { name: 'vcs_rate_limit', severity: warning, threshold: 'rateLimitedMinutes' },
    ({ limitedMinutes }, limit) =>
      [...limitedMinutes].flatMap(([host, n]) => (n >= limit ? [ofDeployment(host, n, { detail: host })] : [])),
    (s) => `${s.detail} rejects all requests because of its rate limit for another ${s.value} min`,
  ),
];

const usd = (amount: number) => `$${amount.toFixed(2)}`;

/**
 * One round of all detectors: found problems are raised, those no longer found are resolved. A failing detector does
 * not affect the others. An open alert is unchanged, or with `refresh` updated with the current value.
 * @returns detectors that failed.
 */
export async function runDetectors(
  engine: Engine,
  readings: Readings,
  { refresh }: { refresh: boolean },
): Promise<{ detector: AlertDetector; error: unknown }[]> {
  const failed: { detector: AlertDetector; error: unknown }[] = [];
  for (const detector of DETECTORS) {
    try {
      const found = await detector.look(engine.store.db, engine.settings().alerts, readings);
      if (found !== null) await reconcile(engine, detector, { found, refresh });
    } catch (error) {
      failed.push({ detector: detector.name, error });
    }
  }
  return failed;
}

interface Found {
  found: readonly Sighting[];
  refresh: boolean;
}

async function reconcile(engine: Engine, detector: Detector, { found, refresh }: Found): Promise<void> {
  const open = await openAlertsOf(engine.store.db, detector.name);
  const key = (tenantId: number, fingerprint: string) => `${tenantId} ${fingerprint}`;
  const isOpen = new Set(open.map((alert) => key(alert.tenant_id, alert.fingerprint)));
  const wanted = found.map((sighting) => ({ ...sighting, fingerprint: `${detector.name}:${sighting.subject}` }));
  const isWanted = new Set(wanted.map((sighting) => key(sighting.tenant_id, sighting.fingerprint)));
  const raise = wanted.filter((one) => refresh || !isOpen.has(key(one.tenant_id, one.fingerprint)));
  // A full list may have omitted some that still exist.
  const isWhole = found.length < MAX_SIGHTINGS;
  const over = isWhole ? open.filter((alert) => !isWanted.has(key(alert.tenant_id, alert.fingerprint))) : [];
  const changes = [
    ...raise.map((one) => ({
      ...one,
      change: (unit: TransactionContext) => raiseAlert(unit, alertOf(engine, detector, one)),
    })),
    ...over.map((one) => ({ ...one, change: (unit: TransactionContext) => resolveAlert(unit, one.fingerprint) })),
  ];
  for (const [tenantId, ofTenant] of Map.groupBy(changes, ({ tenant_id }) => tenant_id)) {
    const sorted = ofTenant.toSorted((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
    await inTenant(engine, tenantId, async (unit) => {
      for (const { change } of sorted) await change(unit);
    });
  }
}

function alertOf(engine: Engine, detector: Detector, sighting: Sighting & { fingerprint: string }) {
  const limit = detector.limit(engine.settings().alerts);
  return {
    severity: detector.severity,
    detector: detector.name,
    fingerprint: sighting.fingerprint,
    message: detector.message(sighting, limit ?? 0),
    repo: sighting.repo,
    issueNumber: sighting.issue_number,
    workerId: sighting.worker_id,
    value: sighting.value,
    threshold: limit,
  };
}
