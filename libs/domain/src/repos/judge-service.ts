import { TASK_TYPES, type TaskType, WORK_TASK_TYPES } from '../task-types.ts';
import type { DoctorCheck } from './doctor.ts';

/** The oldest supported major version of PostgreSQL. */
const MIN_POSTGRES = 15;

export interface DatabaseFacts {
  /** `server_version_num`: 170002 = 17.2. */
  serverVersion: number;
  /** The last migration that ran. */
  migration: string | null;
  /** Migrations of a newer release. */
  unknownMigrations: readonly string[];
}

/** Checks the version of the database and of its schema. */
export function judgeDatabase({ serverVersion, migration, unknownMigrations }: DatabaseFacts): DoctorCheck {
  const check = 'database';
  const major = Math.floor(serverVersion / 10_000);
  const version = `PostgreSQL ${major}.${serverVersion % 10_000}`;
  if (major < MIN_POSTGRES) {
    const message = `${version} is older than the supported versions. Upgrade to PostgreSQL ${MIN_POSTGRES} or newer`;
    return { check, status: 'error', message };
  }
  if (unknownMigrations.length > 0) {
    const message = `the schema has migrations of a newer release (${unknownMigrations.join(', ')}). Deploy that release`;
    return { check, status: 'warning', message };
  }
  return { check, status: 'ok', message: `${version}, schema ${migration ?? 'empty'}` };
}

const SKEW_WARNING_MS = 5_000;
/** GitHub refuses signatures of an app that are a minute off. */
const SKEW_ERROR_MS = 30_000;

/**
 * Checks the difference between the clock of this machine and another one.
 * @param skewMs this machine's time minus the other's. @param precisionMs maximum error of that difference.
 */
export function judgeClock(
  check: 'database-clock' | 'host-clock',
  { skewMs, precisionMs }: { skewMs: number; precisionMs: number },
): DoctorCheck {
  const other = check === 'host-clock' ? 'the host' : 'the database';
  const off = Math.max(0, Math.abs(skewMs) - precisionMs);
  if (off < SKEW_WARNING_MS) return { check, status: 'ok', message: `the clock agrees with that of ${other}` };
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  const message = `the clock of this machine is ${Math.round(Math.abs(skewMs) / 1_000)} s ${side} that of ${other}. Synchronise both with NTP`;
  return { check, status: off < SKEW_ERROR_MS ? 'warning' : 'error', message };
}

/** Checks that spending is limited. */
export function judgeBudget(limits: { dailyUsd: number | null; perIssueUsd: number | null }): DoctorCheck {
  const check = 'budget';
  const set = [
    ...(limits.dailyUsd === null ? [] : [`${limits.dailyUsd} USD per day and organisation`]),
    ...(limits.perIssueUsd === null ? [] : [`${limits.perIssueUsd} USD per issue`]),
  ];
  if (set.length > 0) return { check, status: 'ok', message: set.join(', ') };
  const message = 'spending is not limited. Set costLimits.dailyUsd or costLimits.perIssueUsd in the configuration';
  return { check, status: 'warning', message };
}

const GIB = 1024 ** 3;

/** Checks the free space of a file system, in bytes. */
export function judgeDisk({ path, free, total }: { path: string; free: number; total: number }): DoctorCheck {
  const check = 'disk';
  const share = total > 0 ? free / total : 0;
  const left = `${(free / GIB).toFixed(1)} GiB (${Math.round(share * 100)} %) of ${path} are free`;
  if (free >= 5 * GIB && share >= 0.1) return { check, status: 'ok', message: left };
  const status = free < GIB || share < 0.02 ? 'error' : 'warning';
  return { check, status, message: `${left}. Enlarge the volume or delete files` };
}

/** Checks that workers are online for each task type of a repo. Counts of absent types are 0. */
export function judgeWorkers(online: Partial<Record<TaskType, number>>): DoctorCheck {
  const check = 'workers';
  const missing = TASK_TYPES.filter((type) => !online[type]);
  if (missing.length === 0) {
    const counts = TASK_TYPES.map((type) => `${type} ${online[type]}`).join(', ');
    return { check, status: 'ok', message: `workers are online for every task type: ${counts}` };
  }
  const types = missing.length === TASK_TYPES.length ? 'any task type' : missing.join(', ');
  const message = `no worker is online for ${types}. Start a worker that accepts these tasks and this repo`;
  const stops = WORK_TASK_TYPES.some((type) => !online[type]);
  return { check, status: stops ? 'error' : 'warning', message };
}

/**
 * Checks the last webhook delivery about a repo in the inbox. A quiet repo has no deliveries, so its age does not change
 * the verdict. @param ageSeconds null = the inbox has none.
 */
export function judgeLastDelivery(ageSeconds: number | null): DoctorCheck {
  const check = 'webhook-deliveries';
  if (ageSeconds !== null) return { check, status: 'ok', message: `the last delivery was received ${ago(ageSeconds)}` };
  const message =
    'the inbox has no delivery about this repo, so that changes are noticed by polls only. ' +
    'Set the address and the secret of the webhook on the host, and GITHUB_WEBHOOK_SECRET of the hosted API';
  return { check, status: 'warning', message };
}

function ago(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3_600) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}
