import type { AlertSeverity } from '../severities.ts';

/** Something that is wrong, or was (interface: Alert). */
export interface Alert {
  id: string;
  severity: AlertSeverity;
  detector: AlertDetector;
  message: string;
  /** What makes two sightings the same alert. */
  fingerprint: string;
  repo: string | null;
  issueNumber: number | null;
  workerId: string | null;
  /** What was measured, and the limit that it passed; the detector says in which unit. */
  value: number | null;
  threshold: number | null;
  /** Of this episode. */
  firstSeenAt: string;
  lastSeenAt: string;
  count: number;
  resolved: boolean;
  resolvedAt: string | null;
}

/** What notices that something is wrong. The set is open on the wire; these are the ones there are. */
export const ALERT_DETECTORS = [
  'agent_unreachable',
  'worker_stalled',
  'claim_stalled',
  'queue_age',
  'sla_breach',
  'no_progress',
  'failure_loop',
  'dead_letter_growth',
  'projection_backlog',
  'vcs_rate_limit',
  'budget_threshold',
  'cost_anomaly',
  'label_drift',
  'kpi_regression',
  'config_reload_failed',
  'store_unavailable',
  'loop_failing',
] as const;
export type AlertDetector = (typeof ALERT_DETECTORS)[number];

/**
 * Owner of alerts about the deployment itself: an agent that does not answer, a configuration that does not load. It
 * is nobody's tenant; the sequence of tenants begins at 1.
 */
export const DEPLOYMENT = 0;

/** What a message to a channel is about. */
export const ALERT_MESSAGES = ['alert.raised', 'alert.resolved', 'budget.threshold'] as const;
export type AlertMessage = (typeof ALERT_MESSAGES)[number];

/** What is sent to channels: messages about alerts, and once a day what the day came to. */
export type DeliveryType = AlertMessage | 'digest.daily';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'dropped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** How long each try of a delivery waits after the one before, in seconds; after the last it has failed. */
const RETRY_AFTER_SEC = [10, 60, 300, 1_800, 7_200] as const;

/** Seconds until the next try, by how many were made (from 1); null = that was the last. */
export const deliveryRetrySec = (attempts: number): number | null => RETRY_AFTER_SEC[attempts - 1] ?? null;
