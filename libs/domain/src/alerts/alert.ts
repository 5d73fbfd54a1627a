import type { AlertSeverity } from '../severities.ts';

/** A current or past problem (interface: Alert). */
export interface Alert {
  id: string;
  severity: AlertSeverity;
  detector: AlertDetector;
  message: string;
  /** Identity of an alert: equal fingerprints are one alert. */
  fingerprint: string;
  repo: string | null;
  issueNumber: number | null;
  workerId: string | null;
  /** The measured value and the limit that it passed; the detector defines the unit. */
  value: number | null;
  threshold: number | null;
  /** Start of this episode. */
  firstSeenAt: string;
  lastSeenAt: string;
  count: number;
  resolved: boolean;
  resolvedAt: string | null;
}

/** The sources of alerts. The set is open on the wire; these are the existing ones. */
export const ALERT_DETECTORS = [
  'agent_unreachable',
  'worker_stalled',
  'claim_stalled',
  'queue_age',
  'no_worker',
  'sla_breach',
  'no_progress',
  'failure_loop',
  'dead_letter_growth',
  'projection_backlog',
  'vcs_rate_limit',
  'budget_threshold',
  'cost_anomaly',
  'repo_unavailable',
  'label_drift',
  'kpi_regression',
  'config_reload_failed',
  'store_unavailable',
  'loop_failing',
] as const;
export type AlertDetector = (typeof ALERT_DETECTORS)[number];

/**
 * Owner of alerts about the deployment itself: an agent that does not answer, a configuration that does not load. No
 * tenant has it; the sequence of tenants begins at 1.
 */
export const DEPLOYMENT = 0;

/** The subject of a message to a channel. */
const ALERT_MESSAGES = ['alert.raised', 'alert.resolved', 'budget.threshold'] as const;
export type AlertMessage = (typeof ALERT_MESSAGES)[number];

/** Contents of messages to channels: alerts, and the daily digest. */
export type DeliveryType = AlertMessage | 'digest.daily';

const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'dropped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Seconds between the attempts of a delivery; after the last one it has failed. */
const RETRY_AFTER_SEC = [10, 60, 300, 1_800, 7_200] as const;

/** Seconds until the next attempt, by the number of attempts made (from 1); null = that was the last. */
export const deliveryRetrySec = (attempts: number): number | null => RETRY_AFTER_SEC[attempts - 1] ?? null;
