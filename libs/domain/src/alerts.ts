export const ALERT_SEVERITIES = ['info', 'warning', 'critical'] as const;
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

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
] as const;
export type AlertDetector = (typeof ALERT_DETECTORS)[number];

/**
 * Owner of alerts about the deployment itself: an agent that does not answer, a configuration that does not load. It
 * is nobody's tenant; the sequence of tenants begins at 1.
 */
export const DEPLOYMENT = 0;
