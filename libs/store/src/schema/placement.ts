export type Placement = 'reference' | 'local';

/**
 * Placement of tables on a distributed store. A table that is not named here belongs to tenants and is distributed by
 * tenant_id; naming a table is a decision.
 */
export const PLACEMENT: Readonly<Record<string, Placement>> = {
  // Small, rarely updated, read by all: a full copy on every node.
  tenants: 'reference',
  users: 'reference',
  // A transaction that writes a copy on every node is committed in two phases: no action without its entry, no failed
  // reload without its alert.
  audit_log: 'reference',
  config_reloads: 'reference',
  // One row, or keys that must be unique over all tenants: on the coordinator only.
  model_prices: 'local',
  rollup_checks: 'local',
  oauth_artifacts: 'local',
  oauth_clients: 'local',
  oauth_connections: 'local',
  oauth_tokens: 'local',
  rate_limits: 'local',
  agent_restarts: 'local',
  leaders: 'local',
  loop_problems: 'local',
  settings: 'local',
  trace_cursor: 'local',
  user_identities: 'local',
  user_sessions: 'local',
  webhook_deliveries: 'local',
  worker_tokens: 'local',
  schema_migrations: 'local',
  schema_migrations_lock: 'local',
};
